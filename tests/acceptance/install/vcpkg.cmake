# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the portfile PORTFILE without vcpkg: cmake -DPORTFILE=… -DCURRENT_PACKAGES_DIR=… -P vcpkg.cmake.
# The functions do what the documentation of vcpkg says, for a triplet of Linux and a release build.
get_filename_component(CURRENT_PORT_DIR ${PORTFILE} DIRECTORY)
get_filename_component(PORT ${CURRENT_PORT_DIR} NAME)
set(build ${CURRENT_PACKAGES_DIR}/../build)

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "vcpkg_cmake_configure has no ${arg_UNPARSED_ARGUMENTS}")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${build} -G Ninja
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} ${arg_OPTIONS}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_install)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target install COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Moves the package's files to share/PORT, and corrects how they find the prefix.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  set(share ${CURRENT_PACKAGES_DIR}/share/${PORT})
  file(MAKE_DIRECTORY ${CURRENT_PACKAGES_DIR}/share)
  file(RENAME ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH} ${share})
  file(GLOB files ${share}/*.cmake)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REPLACE "{CMAKE_CURRENT_LIST_DIR}/../../../\"" "{CMAKE_CURRENT_LIST_DIR}/../../\"" text "${text}")
    file(WRITE ${file} "${text}")
  endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(INSTALL ${arg_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT} RENAME copyright)
endfunction()

include(${PORTFILE})
if(NOT VCPKG_BUILD_TYPE STREQUAL "release")
  message(FATAL_ERROR "the port builds a second configuration, which these functions do not")
endif()
