# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs what other projects build with: the CMake package, the pkg-config files and, in the usual
# places below the prefix, the headers and libraries.
#
# There are two such trees, each complete in itself and relocatable. The tool finds its own in
# HEAPWRIGHT_NATIVE_DIR (HEAPWRIGHT_TOOL; the wheel carries it). The other is at the prefix, where
# find_package and pkg-config look by themselves (HEAPWRIGHT_INSTALL). Components of the second, for
# `cmake --install --component`: `headers` (with the package files), `c` (the C interfaces),
# `allocators`, and `static` (archives for static programs).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

list(TRANSFORM HEAPWRIGHT_COMPOSED REPLACE "[|].*" "" OUTPUT_VARIABLE heapwright_allocators)

# heapwright_package(NAME ROOT INCLUDE LIB COMPONENT?): Installs the tree whose root is ROOT below the
# prefix (empty, or with a slash at its end). The headers and libraries are in INCLUDE and LIB below
# that, or at these paths if they are absolute. The tree has components if COMPONENT? is true.
function(heapwright_package tree root include lib components)
  foreach(part headers c allocators static)
    set(${part} "")
    if(components)
      set(${part} COMPONENT ${part})
    endif()
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/package/${tree})
  set(HEAPWRIGHT_PACKAGE_INCLUDE ${include})
  set(HEAPWRIGHT_PACKAGE_LIB ${lib})
  configure_package_config_file(cmake/package/heapwrightConfig.cmake.in ${out}/heapwrightConfig.cmake
    INSTALL_DESTINATION ${lib}/cmake/heapwright
    PATH_VARS HEAPWRIGHT_PACKAGE_INCLUDE HEAPWRIGHT_PACKAGE_LIB)
  write_basic_package_version_file(${out}/heapwrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  get_filename_component(pkgconfig ${lib}/pkgconfig ABSOLUTE BASE_DIR /)
  get_filename_component(HEAPWRIGHT_PC_INCLUDE ${include} ABSOLUTE BASE_DIR /)
  file(RELATIVE_PATH HEAPWRIGHT_PC_INCLUDE ${pkgconfig} ${HEAPWRIGHT_PC_INCLUDE})
  set(lib ${root}${lib})

  configure_file(cmake/package/heapwright.pc.in ${out}/heapwright.pc @ONLY)
  install(FILES ${out}/heapwrightConfig.cmake ${out}/heapwrightConfigVersion.cmake
    DESTINATION ${lib}/cmake/heapwright ${headers})
  install(FILES ${out}/heapwright.pc DESTINATION ${lib}/pkgconfig ${headers})
  install(DIRECTORY include/heapwright DESTINATION ${root}${include} ${headers}
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

  configure_file(cmake/package/heapwright-c.pc.in ${out}/heapwright-c.pc @ONLY)
  install(TARGETS heapwright-c heapwright-c-static LIBRARY DESTINATION ${lib} ${c} ARCHIVE DESTINATION ${lib} ${c})
  install(FILES ${out}/heapwright-c.pc DESTINATION ${lib}/pkgconfig ${c})

  foreach(name IN LISTS heapwright_allocators)
    set(heapwright_pc_private "")
    if(name IN_LIST HEAPWRIGHT_ARCHIVES) # `pkg-config --static`, for a program that is linked with -static
      set(heapwright_pc_private "Libs.private: -Wl,--undefined=malloc -pthread")
    endif()
    configure_file(cmake/package/heapwright-allocator.pc.in ${out}/heapwright-${name}.pc @ONLY)
    install(TARGETS heapwright-${name} LIBRARY DESTINATION ${lib} ${allocators})
    install(FILES ${out}/heapwright-${name}.pc DESTINATION ${lib}/pkgconfig ${allocators})
  endforeach()
  foreach(name IN LISTS HEAPWRIGHT_ARCHIVES)
    configure_file(cmake/package/heapwright-allocator-static.pc.in ${out}/heapwright-${name}-static.pc @ONLY)
    install(TARGETS heapwright-${name}-static ARCHIVE DESTINATION ${lib} ${static})
    install(FILES ${out}/heapwright-${name}-static.pc DESTINATION ${lib}/pkgconfig ${static})
  endforeach()
endfunction()

if(HEAPWRIGHT_TOOL)
  heapwright_package(native ${HEAPWRIGHT_NATIVE_DIR}/ include lib OFF)
endif()
if(HEAPWRIGHT_INSTALL)
  heapwright_package(usual "" ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_LIBDIR} ON)
endif()
