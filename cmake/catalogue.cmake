# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# heapwright_read_catalogue(VARIABLE FILE NAME...): The composed allocators of a catalogue, one
# NAME|HEADER|TYPE|ENTRY_POINTS each. ALL as the name stands for all of them. CMake reads the file
# itself, so that a project that includes this one needs no Python. An entry is the line [[composed]]
# and the lines of its keys, without an empty line or a comment between them.
function(heapwright_read_catalogue variable file)
  file(READ ${file} text)
  # CMake's lists give these characters a meaning.
  string(REPLACE ";" "," text "${text}")
  string(REPLACE "[" "(" text "${text}")
  string(REPLACE "]" ")" text "${text}")
  string(REGEX MATCHALL "\\(\\(composed\\)\\)\n([a-z_]+ = [^\n]*\n)+" blocks "${text}")
  set(names "")
  set(entries "")
  foreach(block IN LISTS blocks)
    foreach(key name header type)
      if(NOT block MATCHES "\n${key} = \"([^\"]+)\"")
        message(FATAL_ERROR "${file}: an entry has no ${key} right below [[composed]]:\n${block}")
      endif()
      set(${key} ${CMAKE_MATCH_1})
    endforeach()
    set(entry_points "")
    if(block MATCHES "\nentry_points = \\(([^)]*)\\)")
      string(REGEX REPLACE "[\" ]" "" entry_points "${CMAKE_MATCH_1}")
    endif()
    list(APPEND names ${name})
    if(name IN_LIST ARGN OR "ALL" IN_LIST ARGN)
      list(APPEND entries "${name}|${header}|${type}|${entry_points}")
    endif()
  endforeach()
  foreach(name IN LISTS ARGN)
    if(NOT name IN_LIST names AND NOT name STREQUAL "ALL")
      list(JOIN names " " names)
      message(FATAL_ERROR "HEAPWRIGHT_ALLOCATORS: ${file} composes no ${name}. It composes: ${names}")
    endif()
  endforeach()
  set(${variable} "${entries}" PARENT_SCOPE)
endfunction()
