# SPDX-License-Identifier: MIT
# The start and the end of a process, a hundred times.
need() { require /bin/true; }

work() {
    for _ in $(seq 100); do
        measured /bin/true
    done
}
