# SPDX-License-Identifier: MIT
# JavaScript's objects are on its own heap; buffers, strings from outside, the compiler and the threads use malloc.
need() {
    require node
    node -e 'require("worker_threads")' 2>/dev/null || skip "node has no worker threads"
}

work() { measured node "$here/node_work.js" "$(of 1 8)"; }
