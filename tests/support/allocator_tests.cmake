# SPDX-License-Identifier: MIT
# How tests are registered that run one program under several malloc implementations.
#
#   slub_add_allocator_test(<name> COMMAND <argv...> [ALLOCATORS slub slub-fast system]
#                           [VARIANTS plain thread lock norseq] [LABELS fast|slow] [TIMEOUT s]
#                           [ENVIRONMENT NAME=VALUE...] [NO_PRELOAD] [PORTABLE])
#
# makes one ctest per allocator and variant, <name>.<allocator>[.<variant>]. The allocator comes by
# LD_PRELOAD; variants choose the back end (SLUB_OPTIONS), take the kernel's rseq area away
# (GLIBC_TUNABLES), or run the program under valgrind, which has no rseq, as programs with a malloc
# of their own are run under it. Where the tests run elsewhere (SLUB_TEST_HOST is off) the programs are built,
# and only PORTABLE ones are tests. With NO_PRELOAD the program gets the library's path in
# SLUB_TEST_LIB instead and preloads it where it must.
include_guard(GLOBAL)
find_program(SLUB_VALGRIND valgrind)
set(slub_valgrind ${SLUB_VALGRIND} --error-exitcode=99 --trace-children=no
    --soname-synonyms=somalloc=nouserintercepts)
if(NOT TARGET slub_test_support)
    add_subdirectory(${CMAKE_CURRENT_LIST_DIR} ${CMAKE_BINARY_DIR}/tests/support)
endif()

function(slub_add_allocator_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "NO_PRELOAD;PORTABLE" "TIMEOUT"
        "COMMAND;ALLOCATORS;VARIANTS;LABELS;ENVIRONMENT")
    if(NOT SLUB_TEST_HOST AND NOT arg_PORTABLE)
        return()
    endif()
    if(NOT arg_ALLOCATORS)
        set(arg_ALLOCATORS slub)
    endif()
    if(NOT arg_VARIANTS)
        set(arg_VARIANTS plain)
    endif()
    if(NOT arg_LABELS)
        set(arg_LABELS fast)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    set(target_of_slub slub_malloc)
    set(target_of_slub-fast slub_malloc_fast_shared)
    foreach(allocator IN LISTS arg_ALLOCATORS)
        set(environment ${arg_ENVIRONMENT})
        if(NOT allocator STREQUAL "system")
            if(NOT TARGET ${target_of_${allocator}})
                continue()
            endif()
            set(library $<TARGET_FILE:${target_of_${allocator}}>)
            list(APPEND environment SLUB_TEST_LIB=${library})
            if(NOT arg_NO_PRELOAD)
                list(APPEND environment LD_PRELOAD=${library})
            endif()
        endif()
        foreach(variant IN LISTS arg_VARIANTS)
            set(test ${name}.${allocator})
            set(variant_environment ${environment})
            set(command ${arg_COMMAND})
            if(variant STREQUAL "valgrind")
                # A sanitizer's build brings a run-time library that does not live under it.
                if(NOT SLUB_VALGRIND OR NOT SLUB_TEST_HOST OR SLUB_SANITIZE)
                    continue()
                endif()
                list(POP_FRONT command program)
                # It takes a program by path, and ctest would look for a target in the first place only.
                if(TARGET ${program})
                    set(program $<TARGET_FILE:${program}>)
                endif()
                list(PREPEND command ${slub_valgrind} ${program})
            elseif(variant STREQUAL "norseq")
                list(APPEND variant_environment GLIBC_TUNABLES=glibc.pthread.rseq=0)
            elseif(NOT variant STREQUAL "plain")
                list(APPEND variant_environment SLUB_OPTIONS=percpu=${variant})
            endif()
            if(NOT variant STREQUAL "plain")
                string(APPEND test .${variant})
            endif()
            add_test(NAME ${test} COMMAND ${command})
            set_tests_properties(${test} PROPERTIES
                ENVIRONMENT "${variant_environment}" LABELS "${arg_LABELS}"
                TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
            if(variant STREQUAL "valgrind" AND NOT allocator STREQUAL "system")
                # Blocks of valgrind's own: it has put its malloc in the place of ours.
                set_tests_properties(${test} PROPERTIES
                    FAIL_REGULAR_EXPRESSION "total heap usage: [1-9]")
            endif()
        endforeach()
    endforeach()
endfunction()
