# SPDX-License-Identifier: MIT
# The bodies of the known failures: known_sources. They are compiled for the workers and for the tests.
set(known_sources)
foreach(part IN ITEMS bodies churn cross_cpu exit false_alarm forks free_only large late_keys return)
    list(APPEND known_sources ${CMAKE_CURRENT_LIST_DIR}/known_${part}.c)
endforeach()
