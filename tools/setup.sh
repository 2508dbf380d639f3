#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the build and the tests need, and nothing when it is all there.
#
# usage: tools/setup.sh [SCOPE]
#   build     what the build needs
#   test      and what the tests need (the default)
#   coverage  test, and what sums up coverage
#   musl      build, and what the preset musl needs
#   aarch64   build, what the preset aarch64 needs, and Debian's kernels for it, into build/aarch64/kernels
#   package   test, and what builds and checks the Debian packages
# With apt-get and root or sudo it installs; otherwise it prints the one line to type and exits 2.
set -eu

scope=${1:-test}
build="build-essential cmake ninja-build pkg-config python3 libjansson-dev libgsl-dev libelf-dev
    libcmocka-dev"
test="g++ clang valgrind strace gdb perl git sqlite3 redis-server nginx-light apache2-utils nodejs rt-tests"
case $scope in
build) packages=$build ;;
test) packages="$build $test" ;;
coverage) packages="$build $test gcovr" ;;
musl) packages="$build musl-tools" ;;
aarch64) packages="$build gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user qemu-system-arm" ;;
package) packages="$build $test debhelper dpkg-dev lintian" ;;
*)
    echo "setup.sh: unknown scope '$scope': say build, test, coverage, musl, aarch64 or package" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    missing=
    for tool in cc cmake ninja pkg-config python3; do
        command -v "$tool" >/dev/null || missing="$missing $tool"
    done
    for library in jansson gsl libelf cmocka; do
        pkg-config --exists "$library" 2>/dev/null || missing="$missing $library"
    done
    [ -z "$missing" ] && exit 0
    echo "setup.sh: this is not Debian; install with your package manager:$missing" >&2
    exit 2
fi

# The sanitizers' run-time library of clang carries clang's version in its name.
clang_runtime() {
    version=$(clang -dumpversion 2>/dev/null | cut -d. -f1) || version=
    [ -n "$version" ] ||
        version=$(apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p;T;q')
    [ -z "$version" ] || echo "libclang-rt-$version-dev"
}

missing_of() {
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
            echo "$package"
    done
}

as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
can_install() {
    [ -z "$as_root" ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

install_missing() {
    # Word splitting is meant: a list of package names.
    # shellcheck disable=SC2046,SC2086
    set -- $(missing_of $packages)
    [ $# -gt 0 ] || return 0
    if ! can_install; then
        echo "setup.sh: packages are missing; type:" \
            "sudo apt-get install --no-install-recommends $*" >&2
        exit 2
    fi
    $as_root apt-get update -q
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "$@"
}

# The newest of Debian's kernels of each line (6.1, 6.12) for arm64 machines, as packages: none is installed.
fetch_kernels() {
    folder=build/aarch64/kernels
    ls $folder/linux-image-*.deb >/dev/null 2>&1 && return 0
    can_install || {
        echo "setup.sh: no kernels in $folder; type:" \
            "sudo dpkg --add-architecture arm64, sudo apt-get update, and then this again" >&2
        exit 2
    }
    $as_root dpkg --add-architecture arm64
    $as_root apt-get update -q
    mkdir -p $folder
    apt-cache search --names-only '^linux-image-[0-9]+[.][0-9]+[.][0-9][^ ]*-cloud-arm64$' |
        cut -d ' ' -f 1 | sort -V |
        awk -F '[-.]' '{ newest[$3 "." $4] = $0 } END { for (line in newest) print newest[line] }' |
        (cd $folder && xargs -I '{}' apt-get download -q -o APT::Sandbox::User=root '{}:arm64')
}

case $scope in
test | coverage | package) packages="$packages $(clang_runtime)" ;;
esac
install_missing
[ "$scope" != aarch64 ] || fetch_kernels
