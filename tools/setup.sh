#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the build and the tests need, and nothing when it is all there.
#
# usage: tools/setup.sh [build|test|package|cross]
#   build    what the build needs
#   test     and what the tests need (the default)
#   package  test, and what builds the Debian packages
#   cross    test, and what the presets musl and aarch64 need
# With apt-get and root or sudo it installs; otherwise it prints the one line to type and exits 2.
set -eu

scope=${1:-test}
packages="build-essential cmake ninja-build pkg-config python3 libjansson-dev libgsl-dev libelf-dev
          libcmocka-dev"
case $scope in
build) ;;
test | package | cross) packages="$packages g++ clang valgrind strace gdb
    perl git sqlite3 redis-server nginx-light apache2-utils nodejs" ;;
*)
    echo "setup.sh: unknown scope '$scope': say build, test, package or cross" >&2
    exit 2
    ;;
esac
[ "$scope" != cross ] || packages="$packages musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    qemu-user qemu-system-arm"
[ "$scope" != package ] || packages="$packages debhelper dpkg-dev"

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

[ "$scope" = build ] || packages="$packages $(clang_runtime)"
install_missing
