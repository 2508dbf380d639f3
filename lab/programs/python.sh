# SPDX-License-Identifier: MIT
# The python3 that has its tests installed: Debian's with libpython3.N-testsuite, or another in the path.
some="test_list test_dict test_json"
more="test_re test_weakref test_ast test_set test_bytes test_deque test_heapq test_unicode test_pickle test_itertools
      test_zlib test_threading test_struct test_array test_gc test_sqlite3 test_xml_etree test_thread test_descr"

find_python() {
    for python in /usr/bin/python3 python3; do
        if command -v "$python" >/dev/null && "$python" -c 'import test.test_list' 2>/dev/null; then
            "$python" -c 'import sys; print(sys.executable)'
            return 0
        fi
    done
    return 1
}

need() { find_python >python.path || skip "no python3 with its tests: libpython3.N-testsuite is not installed"; }

# The times in its output are no part of the answer; a test that ends with the interpreter's failure is the status.
work() {
    # Names of tests, split on purpose.
    # shellcheck disable=SC2046
    measured "$(cat python.path)" -m test -q $(of "$some" "$some $more") >tests.log 2>&1 || {
        tail -n 30 tests.log >&2
        return 1
    }
    ! grep -n '^slub' tests.log >&2
    grep -q 'esult: SUCCESS' tests.log # "Result:" or, before 3.12, "Tests result:"
    echo "all passed"
}
