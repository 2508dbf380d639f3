# SPDX-License-Identifier: MIT
# Manual pages: those written by hand in docs/man, those made from the one table of options and the
# one table of counters, and for each function a page of its name that points to its family's.
set(SLUB_MAN_DIR ${PROJECT_BINARY_DIR}/man)

file(GLOB written CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.[137])
set(SLUB_MAN_PAGES)
foreach(source IN LISTS written)
    cmake_path(GET source FILENAME page)
    configure_file(${source} ${SLUB_MAN_DIR}/${page} @ONLY)
    list(APPEND SLUB_MAN_PAGES ${SLUB_MAN_DIR}/${page})

    file(STRINGS ${source} names REGEX "^slub.* .-" LIMIT_COUNT 1)
    string(REGEX REPLACE " .- .*" "" names "${names}")
    string(REPLACE ", " ";" names "${names}")
    foreach(name IN LISTS names)
        if(page MATCHES "[.]3$" AND NOT "${name}.3" STREQUAL page)
            file(WRITE ${SLUB_MAN_DIR}/alias/${name}.3 ".so man3/${page}\n")
            list(APPEND SLUB_MAN_PAGES ${SLUB_MAN_DIR}/alias/${name}.3)
        endif()
    endforeach()
endforeach()

set(gen_docs ${PROJECT_SOURCE_DIR}/tools/gen_docs.py)
function(slub_generated_page page table)
    add_custom_command(
        OUTPUT ${SLUB_MAN_DIR}/${page}
        COMMAND ${Python3_EXECUTABLE} ${gen_docs} ${page} ${PROJECT_SOURCE_DIR}/${table}
                ${PROJECT_VERSION} ${SLUB_MAN_DIR}/${page}
        DEPENDS ${gen_docs} ${PROJECT_SOURCE_DIR}/${table}
        COMMENT "Manual page ${page}"
        VERBATIM)
    list(APPEND SLUB_MAN_PAGES ${SLUB_MAN_DIR}/${page})
    set(SLUB_MAN_PAGES ${SLUB_MAN_PAGES} PARENT_SCOPE)
endfunction()
slub_generated_page(slub_options.7 src/service/options.def)
slub_generated_page(slub_stats.7 include/slub/stats.h)
slub_generated_page(slub-bench.7 lab/workloads/loads.def)
add_custom_target(slub_man ALL DEPENDS ${SLUB_MAN_PAGES})
