# In a sanitizer tree, several sources of a target become one translation unit: most of compiling a file is its headers. The normal tree
# compiles each by itself, which shows that it can be.
#
#   tmpi_unity(TARGET)      takes part; for rooms and unit tests
#   tmpi_group_sources()    at the end of the top directory: decides on the groups (tools/unity_groups.py)

function(tmpi_unity target)
  if(TMPI_SANITIZE)
    set_property(GLOBAL APPEND PROPERTY TMPI_UNITY_TARGETS ${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endif()
endfunction()

function(tmpi_group_sources)
  get_property(targets GLOBAL PROPERTY TMPI_UNITY_TARGETS)
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
