# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds libheapwright-granary.so for musl on Debian, with the packages g++, musl-tools and
# linux-libc-dev. Debian has no C++ library for musl. granary needs only the headers of one: include/
# replaces those that describe the GNU C library.
#
#     cmake -S . -B build/musl --toolchain packaging/musl/toolchain.cmake -DCMAKE_BUILD_TYPE=Release
#     cmake --build build/musl --target heapwright-granary
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_CXX_COMPILER g++)
# A C++ program cannot be linked, so CMake tests the compilers with archives.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

execute_process(COMMAND g++ -dumpversion OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
# The kernel's headers without those of the GNU C library beside them.
set(kernel "${CMAKE_BINARY_DIR}/kernel-headers")
file(MAKE_DIRECTORY "${kernel}")
file(CREATE_LINK /usr/include/linux "${kernel}/linux" SYMBOLIC)
file(CREATE_LINK /usr/include/asm-generic "${kernel}/asm-generic" SYMBOLIC)
file(CREATE_LINK /usr/include/x86_64-linux-gnu/asm "${kernel}/asm" SYMBOLIC)
set(folders
  "${CMAKE_CURRENT_LIST_DIR}/include" "${kernel}"
  "/usr/include/c++/${version}" "/usr/include/x86_64-linux-gnu/c++/${version}")
list(TRANSFORM folders REPLACE "(.+)" "-isystem \"\\1\"")
list(JOIN folders " " folders)
set(CMAKE_CXX_FLAGS_INIT "-specs /usr/lib/x86_64-linux-musl/musl-gcc.specs -nostdinc++ ${folders}")
