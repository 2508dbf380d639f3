#!/bin/sh
# SPDX-License-Identifier: MIT
# Owns how one program of `slub bench programs` is prepared and run: `sh frame.sh NAME PHASE FORM DIR`.
#
# NAME.sh, beside this file, defines need (commands, or a reason why not), input (makes files, once) and
# work (the run; its output is the answer). FORM is short or full, DIR an empty directory to work in.
#   prepare   checks what is needed, makes the input, and keeps the answer that the program gives without preload
#   run       works under the allocator and compares the answers
# Status: 0, 77 with a reason on standard output when the program cannot run here, else failed.
set -eu
LC_ALL=C
TZ=UTC
export LC_ALL TZ

name=$1
phase=$2
form=$3
here=$(cd "$(dirname "$0")" && pwd)
cd "$4"

skip() {
    echo "$*"
    exit 77
}

require() {
    for command in "$@"; do
        command -v "$command" >/dev/null || skip "$command is not installed"
    done
}

# The number for this form.
of() {
    if [ "$form" = short ]; then echo "$1"; else echo "$2"; fi
}

# Runs a program under the allocator. The mark says to the watcher whose memory counts.
measured() {
    LD_PRELOAD=$preload SLUB_PROGRAM_MEASURED=1 "$@"
}

# The same in the background; $server is its process. It has to be stopped by stop_server.
start_server() {
    (
        LD_PRELOAD=$preload
        SLUB_PROGRAM_MEASURED=1
        export LD_PRELOAD SLUB_PROGRAM_MEASURED
        exec "$@"
    ) &
    server=$!
}

# Waits until a command succeeds, at most a minute.
await() {
    for _ in $(seq 600); do
        ! "$@" >/dev/null 2>&1 || return 0
        kill -0 "$server"
        sleep 0.1
    done
    echo "the server does not answer" >&2
    return 1
}

server=
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null' EXIT
stop_server() {
    status=0
    wait "$server" || status=$?
    server=
    return $status
}

need() { :; }
input() { :; }
. "$here/$name.sh"

case $phase in
prepare)
    preload=
    need
    input
    work >expected
    ;;
run)
    preload=${SLUB_PROGRAM_PRELOAD-}
    work >answer
    cmp expected answer
    ;;
esac
