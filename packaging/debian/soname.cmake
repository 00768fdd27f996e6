# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Gives granary a versioned name, as libraries in Debian's public folder have it. CMake includes this
# at the call of project(), and changes the target after all of them are known.
cmake_language(DEFER CALL set_target_properties heapwright-granary PROPERTIES SOVERSION 0 VERSION 0.${PROJECT_VERSION})
