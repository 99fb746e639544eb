# tmpi_sources(VARIABLE FOLDER... [RECURSE] [EXCEPT files...]): the sources in folders of this directory, as they are found everywhere: all .cpp but
# tests, so that a new file needs no entry. RECURSE: in folders within, too. EXCEPT: what belongs to another target.
function(tmpi_sources variable)
  cmake_parse_arguments(FOUND "RECURSE" "" "EXCEPT" ${ARGN})
  set(glob GLOB)
  if(FOUND_RECURSE)
    set(glob GLOB_RECURSE)
  endif()
  set(all)
  foreach(folder ${FOUND_UNPARSED_ARGUMENTS})
    cmake_path(ABSOLUTE_PATH folder NORMALIZE)
    string(REGEX REPLACE "/$" "" folder ${folder}) # of "."
    file(${glob} sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    if(NOT sources)
      message(FATAL_ERROR "tmpi_sources: there are no sources in ${folder}")
    endif()
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
    list(APPEND all ${sources})
  endforeach()
  foreach(file ${FOUND_EXCEPT})
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    if(NOT file IN_LIST all)
      message(FATAL_ERROR "tmpi_sources: ${file}, which is to be left out, is not among the sources of ${FOUND_UNPARSED_ARGUMENTS}")
    endif()
    list(REMOVE_ITEM all ${file})
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()

# tmpi_room(NAME SOURCES... [LINK libs...]): one room of docs/architecture.md, as an object library that is linked both into
# the node process and into libtmpi.so.
function(tmpi_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINK" ${ARGN})
  add_library(tmpi_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(tmpi_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include
                                                 ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(tmpi_${name} PUBLIC ${ROOM_LINK})
  tmpi_grouped(tmpi_${name} room)
endfunction()

# tmpi_cold(TARGET...): what runs once per job, and is mostly text: a quarter less to compile.
function(tmpi_cold)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo,Release>:-O1>)
  endforeach()
endfunction()

# tmpi_unit_test(NAME SOURCES... [ROOMS rooms...] [LINK libs...]): a doctest binary run by ctest with a time limit, for what hangs: at
# least six times what it takes under any sanitizer on a quiet machine. ROOMS lists
# every room whose objects it needs (object libraries are not linked transitively; net comes with mpi). ONE_THREAD: it has no second thread, so
# ThreadSanitizer has nothing to see. LONG_UNDER_TSAN: minutes there, so only in the longer tier. TIMING: its test cases in the test suite
# "timing" make claims about how long things take; they are a test of their own, timing/NAME (see scripts/test), and none of a sanitizer tree.
add_library(tmpi_doctest_main OBJECT ${CMAKE_SOURCE_DIR}/tests/doctest_main.cpp)
target_include_directories(tmpi_doctest_main PUBLIC ${DOCTEST_INCLUDE_DIR})
target_compile_options(tmpi_doctest_main PRIVATE ${TMPI_TEST_OPTIONS})
if(TMPI_SANITIZE)
  target_compile_options(tmpi_doctest_main PRIVATE -O0 -fno-sanitize=all) # not ours, and long to instrument
endif()
function(tmpi_unit_test name)
  cmake_parse_arguments(UT "ONE_THREAD;LONG_UNDER_TSAN;TIMING" "TIMEOUT" "SOURCES;ROOMS;LINK" ${ARGN})
  if(UT_ONE_THREAD AND TMPI_SANITIZE STREQUAL "thread")
    return()
  endif()
  if(NOT UT_TIMEOUT)
    set(UT_TIMEOUT 300)
  endif()
  if("mpi" IN_LIST UT_ROOMS AND NOT "net" IN_LIST UT_ROOMS)
    list(APPEND UT_ROOMS net)
  endif()
  list(TRANSFORM UT_ROOMS PREPEND tmpi_)
  add_executable(${name} ${UT_SOURCES})
  target_include_directories(${name} PRIVATE ${DOCTEST_INCLUDE_DIR})
  target_compile_definitions(${name} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS) # a sixth less to compile; a failed one still says where
  target_link_libraries(${name} PRIVATE tmpi_doctest_main ${UT_ROOMS} ${UT_LINK})
  target_compile_options(${name} PRIVATE ${TMPI_TEST_OPTIONS})
  tmpi_grouped(${name} test)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(tier TMPI_UNIT_TESTS)
  if(UT_LONG_UNDER_TSAN AND TMPI_SANITIZE STREQUAL "thread")
    set(tier TMPI_LONG_UNIT_TESTS)
  endif()
  set_property(GLOBAL APPEND PROPERTY ${tier} ${name})
  add_test(NAME unit/${name} COMMAND ${name} --test-suite-exclude=timing)
  if(UT_TIMING AND NOT TMPI_SANITIZE)
    add_test(NAME timing/${name} COMMAND ${name} --test-suite=timing)
    set_tests_properties(timing/${name} PROPERTIES TIMEOUT ${UT_TIMEOUT} LABELS timing RUN_SERIAL ON)
  endif()
  set(labels unit)
  if(UT_LONG_UNDER_TSAN AND TMPI_SANITIZE STREQUAL "thread")
    list(APPEND labels long)
  endif()
  # What may take long starts early.
  set_tests_properties(unit/${name} PROPERTIES TIMEOUT ${UT_TIMEOUT} COST ${UT_TIMEOUT} LABELS "${labels}")
endfunction()
