# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Links everything with the libraries that old_glibc.py made in the folder HEAPWRIGHT_OLD_GLIBC. CMake
# includes this at the call of project(). Archives stay as they are: others link with them.
add_link_options(-L${HEAPWRIGHT_OLD_GLIBC} -Wl,--allow-shlib-undefined)
set(type $<TARGET_PROPERTY:TYPE>)
add_compile_definitions($<$<OR:$<STREQUAL:${type},SHARED_LIBRARY>,$<STREQUAL:${type},MODULE_LIBRARY>,$<STREQUAL:${type},EXECUTABLE>>:HEAPWRIGHT_OLD_GLIBC>)
