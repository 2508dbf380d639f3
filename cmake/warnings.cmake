# SPDX-License-Identifier: MIT
# The one list of warnings; slub_warnings(TARGET) turns them on. -Werror comes from the presets.
function(slub_warnings target)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wshadow>
        $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>)
endfunction()
