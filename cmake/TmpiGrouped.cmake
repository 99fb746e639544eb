# TMPI_GROUPED: the whole tree in half the time. Most of compiling a file is its headers, so several sources of a target become one translation
# unit (in sanitizer trees in any case), and the C++ library's headers are compiled once. scripts/setup and scripts/test build so; any other tree
# compiles each source by itself, with the headers that it names, and style/sources_compile_alone does so in the longer tier.
#
#   tmpi_grouped(TARGET room|test)   takes part; for rooms and unit tests, which are compiled with options of their own
#   tmpi_group_sources()             at the end of the top directory: decides on the groups (tools/unity_groups.py)

# ccache sees through precompiled headers only if it is told to (scripts/lib.sh does).
set(TMPI_PRECOMPILED ${TMPI_GROUPED})
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache" AND NOT CMAKE_CXX_COMPILER_LAUNCHER MATCHES "pch_defines")
  set(TMPI_PRECOMPILED OFF)
endif()

# What most sources include anyway; reading what few of them want would take the others longer than it saves.
set(TMPI_PRECOMPILED_HEADERS <algorithm> <array> <atomic> <cstdint> <cstring> <functional> <map> <memory> <mutex> <optional> <span> <string>
                             <string_view> <utility> <vector> <fmt/format.h>)
get_target_property(TMPI_PRECOMPILED_DEFINITIONS fmt::fmt INTERFACE_COMPILE_DEFINITIONS)
if(NOT TMPI_PRECOMPILED_DEFINITIONS)
  set(TMPI_PRECOMPILED_DEFINITIONS "")
endif()
if(TMPI_PRECOMPILED)
  foreach(kind room test)
    add_library(tmpi_precompiled_${kind} OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
    target_compile_options(tmpi_precompiled_${kind} PRIVATE -fpch-preprocess) # for ccache
    target_compile_definitions(tmpi_precompiled_${kind} PRIVATE ${TMPI_PRECOMPILED_DEFINITIONS})
    target_precompile_headers(tmpi_precompiled_${kind} PRIVATE ${TMPI_PRECOMPILED_HEADERS})
  endforeach()
  set_target_properties(tmpi_precompiled_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(tmpi_precompiled_test PRIVATE -fPIE ${TMPI_TEST_OPTIONS}) # as a program has it
  target_compile_definitions(tmpi_precompiled_test PRIVATE ${TMPI_DOCTEST_DEFINITIONS})
  target_precompile_headers(tmpi_precompiled_test PRIVATE <doctest/doctest.h>)
endif()

function(tmpi_grouped target kind)
  if(NOT TMPI_GROUPED AND NOT TMPI_SANITIZE)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY TMPI_GROUPED_TARGETS ${target})
  # gcc 12 inlines more in a large unit and then warns of what std::string never does. A plain tree keeps these warnings.
  target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict -Wno-maybe-uninitialized)
  # gcc collects its garbage only where a unit has made 500 MB of it: 5 to 10 % less to compile, for some 80 MB more.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=500000>)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(TMPI_PRECOMPILED)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    target_compile_definitions(${target} PRIVATE ${TMPI_PRECOMPILED_DEFINITIONS})
    target_precompile_headers(${target} REUSE_FROM tmpi_precompiled_${kind})
  endif()
endfunction()

function(tmpi_group_sources)
  get_property(targets GLOBAL PROPERTY TMPI_GROUPED_TARGETS)
  if(NOT targets)
    return()
  endif()
  set(lines "")
  foreach(target ${targets})
    get_target_property(sources ${target} SOURCES)
    get_target_property(directory ${target} SOURCE_DIR)
    foreach(source ${sources})
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} NORMALIZE)
      if(source MATCHES "\\.cpp$" AND EXISTS ${source})
        string(APPEND lines "${target} ${source}\n")
        # An edit may let a file out of its group.
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
        # Headers that were compiled with other options are none of its.
        get_source_file_property(options ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
        if(options)
          set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
        endif()
      endif()
    endforeach()
  endforeach()

  set(script ${CMAKE_SOURCE_DIR}/tools/unity_groups.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  file(WRITE ${CMAKE_BINARY_DIR}/unity.sources "${lines}")
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${script} INPUT_FILE ${CMAKE_BINARY_DIR}/unity.sources OUTPUT_VARIABLE lines
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line ${lines})
    string(REPLACE " " ";" words ${line})
    list(GET words 0 target)
    list(GET words 1 number)
    list(GET words 2 source)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${target}${number})
  endforeach()
endfunction()
