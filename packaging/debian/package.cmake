# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# CMake includes this at the call of project(), and changes the targets after all of them are known.
# It gives granary a versioned name, as libraries in Debian's public folder have it. A warning of
# another compiler, or of the checks of lengths, does not end the build of a package.
cmake_language(DEFER CALL target_compile_options heapwright_warnings INTERFACE -Wno-error)
cmake_language(DEFER CALL set_target_properties heapwright-granary PROPERTIES SOVERSION 0 VERSION 0.${PROJECT_VERSION})
