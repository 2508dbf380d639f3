# SPDX-License-Identifier: MIT
# Build against musl with Debian's musl-gcc on the same CPU.
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_ASM_COMPILER musl-gcc)
# The C++ library of this machine needs glibc, so there are no C++ tests.
set(CMAKE_CXX_COMPILER NOTFOUND)

# musl-gcc sees musl's headers only. The kernel's headers belong to no C library, so they are linked
# into a directory of their own: the whole of /usr/include would bring glibc's along.
set(kernel_headers ${CMAKE_BINARY_DIR}/kernel-headers)
file(MAKE_DIRECTORY ${kernel_headers})
execute_process(COMMAND gcc -print-multiarch
    OUTPUT_VARIABLE triplet OUTPUT_STRIP_TRAILING_WHITESPACE)
foreach(pair IN ITEMS linux:linux asm-generic:asm-generic ${triplet}/asm:asm)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 from)
    list(GET pair 1 name)
    if(NOT EXISTS ${kernel_headers}/${name})
        file(CREATE_LINK /usr/include/${from} ${kernel_headers}/${name} SYMBOLIC)
    endif()
endforeach()
set(CMAKE_C_FLAGS_INIT "-isystem ${kernel_headers}")
