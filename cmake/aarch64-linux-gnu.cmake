# SPDX-License-Identifier: MIT
# Cross build for 64-bit Arm with Debian's compiler; test programs run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
# Never the compiler of this machine; without a cross compiler there are no C++ tests.
find_program(SLUB_CROSS_CXX aarch64-linux-gnu-g++)
set(CMAKE_CXX_COMPILER ${SLUB_CROSS_CXX})

set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(SLUB_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(SLUB_QEMU)
    # It walks all pages of a reservation, so the address space must be small for programs to start at all.
    find_program(SLUB_PRLIMIT prlimit REQUIRED)
    set(CMAKE_CROSSCOMPILING_EMULATOR
        ${SLUB_PRLIMIT} --as=17179869184 ${SLUB_QEMU} -L /usr/aarch64-linux-gnu)
endif()
