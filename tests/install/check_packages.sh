#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the Debian packages from a copy of the tree, judges them with lintian, installs them on this machine,
# runs their own tests (debian/tests), and removes them again. Needs root or sudo.
#
# usage: tests/install/check_packages.sh [DIRECTORY]     where the packages are left, build/package by default
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(realpath -m "${1:-$root/build/package}")
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
passed=0
failed=0

# NAME COMMAND...
check() {
    echo "-- $1"
    if "${@:2}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "check_packages.sh: FAILED: $1" >&2
    fi
}

build() {
    cd "$work/slub" && dpkg-buildpackage -us -uc -b
}

lint() {
    lintian --allow-root --fail-on error,warning --info --tag-display-limit 0 "$work"/*.changes
}

content() {
    local file listing
    for file in libslub1:/libslub.so.1 libslub-dev:/libslub.a libslub-dev:/slub.pc libslub-dev:/slub/slub.h \
        slub:/libslub-malloc.so slub:/slub.1.gz; do
        listing=$(dpkg-deb -c "$work/${file%%:*}"_*.deb)
        grep -qF "${file#*:}" <<<"$listing" || { echo "no $file"; return 1; }
    done
}

packages="slub libslub-dev libslub1"
installed() {
    # Word splitting is meant.
    # shellcheck disable=SC2086
    dpkg-query -W -f '${Package} ${db:Status-Status}\n' $packages 2>/dev/null | grep ' installed$'
}

# Something of ours that somebody else installed is not ours to remove.
install() {
    if installed; then
        echo "installed already: remove these first"
        return 1
    fi
    trap remove EXIT
    # Without the packages of debugging symbols.
    # shellcheck disable=SC2046
    $as_root apt-get install -q -y --no-install-recommends $(printf "$work/%s_*.deb\n" $packages)
}

own_test() {
    local temporary status=0
    temporary=$(mktemp -d)
    (cd "$work/slub" && AUTOPKGTEST_TMP=$temporary debian/tests/"$1") || status=$?
    rm -rf "$temporary"
    return $status
}

remove() {
    trap - EXIT
    # shellcheck disable=SC2086
    $as_root dpkg --purge $packages && ! installed && [ ! -e /usr/bin/slub ]
}

rm -rf "$work"
mkdir -p "$work/slub"
cd "$root"
git ls-files -z | tar --null --files-from=- -c | tar -x -C "$work/slub"

check "build" build
if ls "$work"/slub_*.deb >/dev/null; then
    check "lintian" lint
    check "content" content
    check "install" install
    for test in $(sed -n 's/^Tests: //p' debian/tests/control); do
        check "debian/tests/$test" own_test "$test"
    done
    check "remove" remove
fi
echo
echo "packages: $passed passed, $failed failed"
[ "$failed" = 0 ]
