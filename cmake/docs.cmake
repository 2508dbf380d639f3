# SPDX-License-Identifier: MIT
# Manual pages: those written by hand in docs/man, and those made from the one table of options and
# the one table of counters.
set(SLUB_MAN_DIR ${PROJECT_BINARY_DIR}/man)
set(slub_gen_docs ${PROJECT_SOURCE_DIR}/tools/gen_docs.py)
set(slub_generated_pages)
foreach(pair IN ITEMS slub_options.7:src/service/options.def slub_stats.7:include/slub/stats.h)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 page)
    list(GET pair 1 table)
    add_custom_command(
        OUTPUT ${SLUB_MAN_DIR}/${page}
        COMMAND ${Python3_EXECUTABLE} ${slub_gen_docs} ${page} ${PROJECT_SOURCE_DIR}/${table}
                ${PROJECT_VERSION} ${SLUB_MAN_DIR}/${page}
        DEPENDS ${slub_gen_docs} ${PROJECT_SOURCE_DIR}/${table}
        COMMENT "Manual page ${page}"
        VERBATIM)
    list(APPEND slub_generated_pages ${SLUB_MAN_DIR}/${page})
endforeach()
add_custom_target(slub_man ALL DEPENDS ${slub_generated_pages})

file(GLOB slub_written_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.[137])
