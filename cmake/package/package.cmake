# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs what other projects build with: the CMake package, the pkg-config files and, in the usual
# places below the prefix, the headers and libraries.
#
# There are two such trees, each complete in itself and relocatable. HEAPWRIGHT_NATIVE_DIR, where the
# tool looks, always gets one (the wheel carries it). What is installed by hand gets one at the prefix
# as well, where find_package and pkg-config look by themselves. Components, for `cmake --install
# --component`: `headers` (with the package files), `c` (the C interfaces), `allocators`, and `static`
# (archives for static programs).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(heapwright_allocators "")
foreach(entry IN LISTS HEAPWRIGHT_COMPOSED)
  string(REGEX REPLACE "[|].*" "" name "${entry}")
  list(APPEND heapwright_allocators ${name})
endforeach()

# heapwright_package(NAME ROOT INCLUDE LIB [COMPONENT ...]): The package files of the tree whose
# root is ROOT below the prefix (empty, or with a slash at its end). The headers and libraries are
# in INCLUDE and LIB below that.
function(heapwright_package name root include lib)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/package/${name})
  set(HEAPWRIGHT_PACKAGE_INCLUDE ${include})
  set(HEAPWRIGHT_PACKAGE_LIB ${lib})
  configure_package_config_file(cmake/package/heapwrightConfig.cmake.in ${out}/heapwrightConfig.cmake
    INSTALL_DESTINATION ${lib}/cmake/heapwright
    PATH_VARS HEAPWRIGHT_PACKAGE_INCLUDE HEAPWRIGHT_PACKAGE_LIB)
  write_basic_package_version_file(${out}/heapwrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  file(RELATIVE_PATH HEAPWRIGHT_PC_INCLUDE /${lib}/pkgconfig /${include})
  configure_file(cmake/package/heapwright.pc.in ${out}/heapwright.pc @ONLY)
  configure_file(cmake/package/heapwright-c.pc.in ${out}/heapwright-c.pc @ONLY)
  install(FILES ${out}/heapwrightConfig.cmake ${out}/heapwrightConfigVersion.cmake
    DESTINATION ${root}${lib}/cmake/heapwright ${ARGN})
  install(FILES ${out}/heapwright.pc DESTINATION ${root}${lib}/pkgconfig ${ARGN})
  foreach(heapwright_archive IN LISTS HEAPWRIGHT_ARCHIVES)
    configure_file(cmake/package/heapwright-static.pc.in ${out}/heapwright-${heapwright_archive}-static.pc @ONLY)
  endforeach()
endfunction()

heapwright_package(native ${HEAPWRIGHT_NATIVE_DIR}/ include lib)
foreach(name IN LISTS HEAPWRIGHT_ARCHIVES)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/native/heapwright-${name}-static.pc
    DESTINATION ${HEAPWRIGHT_NATIVE_DIR}/lib/pkgconfig)
endforeach()
if(TARGET heapwright-c)
  install(TARGETS heapwright-c
    LIBRARY DESTINATION ${HEAPWRIGHT_NATIVE_DIR}/lib ARCHIVE DESTINATION ${HEAPWRIGHT_NATIVE_DIR}/lib)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/native/heapwright-c.pc
    DESTINATION ${HEAPWRIGHT_NATIVE_DIR}/lib/pkgconfig)
endif()

if(NOT SKBUILD)
  heapwright_package(usual "" ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_LIBDIR} COMPONENT headers)
  install(DIRECTORY include/heapwright DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT headers FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  if(TARGET heapwright-c)
    install(TARGETS heapwright-c COMPONENT c
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/usual/heapwright-c.pc
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)
  endif()
  foreach(name IN LISTS heapwright_allocators)
    install(TARGETS heapwright-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT allocators)
  endforeach()
  foreach(name IN LISTS HEAPWRIGHT_ARCHIVES)
    install(TARGETS heapwright-${name}-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT static)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/usual/heapwright-${name}-static.pc
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT static)
  endforeach()
endif()
