# tmpi_program(NAME DIRECTORY SOURCES... [FLAGS flags...] [LIBRARIES words...]): an MPI program, compiled as a user would compile it: by the
# tmpicc (or, for a .cpp, the tmpicxx) of this build, into DIRECTORY. Defines the target program_NAME (NAME is the file), part of ALL. Does nothing but say so where the
# wrapper is not part of this build.
# With TMPI_PROGRAMS the program is that of another build tree: compiled programs know nothing of the runtime they will run under, so a
# sanitizer tree takes those of the normal tree.
include_guard(DIRECTORY) # the variables below belong to the directory that includes this

# What has to be built before the wrappers can link a program, and what has to be there to run it.
set(TMPI_PROGRAM_NEEDS "")
foreach(target tmpicc tmpicxx tmpi tmpi-shim tmpi_shim tmpi-start tmpi_start tmpirun tmpi-node)
  if(TARGET ${target})
    list(APPEND TMPI_PROGRAM_NEEDS ${target})
  endif()
endforeach()
if(TARGET tmpicc AND TARGET tmpirun)
  set(TMPI_CAN_RUN TRUE)
else()
  set(TMPI_CAN_RUN FALSE)
  message(STATUS "tmpicc or tmpirun is not part of this build: MPI programs (tests/mpi, examples, bench) are left out")
endif()
set(TMPICC ${CMAKE_BINARY_DIR}/bin/tmpicc)
set(TMPICXX ${CMAKE_BINARY_DIR}/bin/tmpicxx)
set(TMPIRUN ${CMAKE_BINARY_DIR}/bin/tmpirun)

# Fortran programs belong to the normal tree: a sanitizer tree has no libtmpifort.so, and the procedures in it are not part of the runtime.
if(TMPI_CAN_RUN AND TMPI_GFORTRAN AND NOT TMPI_SANITIZE)
  set(TMPI_CAN_RUN_FORTRAN TRUE)
else()
  set(TMPI_CAN_RUN_FORTRAN FALSE)
endif()

set(TMPI_PROGRAMS "" CACHE PATH "A build tree whose MPI programs are used instead of compiling them again")

# tmpi_borrowed(NAME DIRECTORY FILES...): the target program_NAME: FILES of the same place in that other tree.
function(tmpi_borrowed name directory)
  file(RELATIVE_PATH place ${CMAKE_BINARY_DIR} ${directory})
  set(files ${ARGN})
  list(TRANSFORM files PREPEND ${directory}/)
  foreach(file ${ARGN})
    set(original ${TMPI_PROGRAMS}/${place}/${file})
    add_custom_command(OUTPUT ${directory}/${file} COMMAND ${CMAKE_COMMAND} -E create_symlink ${original} ${directory}/${file}
                       DEPENDS ${original} VERBATIM)
  endforeach()
  add_custom_target(program_${name} ALL DEPENDS ${files})
  set_property(GLOBAL APPEND PROPERTY TMPI_PROGRAM_TARGETS program_${name})
endfunction()

function(tmpi_program name directory)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;FLAGS;LIBRARIES" ${ARGN})
  if(NOT TMPI_CAN_RUN)
    return()
  endif()
  file(MAKE_DIRECTORY ${directory})
  if(TMPI_PROGRAMS)
    tmpi_borrowed(${name} ${directory} ${name})
    return()
  endif()
  set(wrapper ${TMPICC} -std=gnu11)
  if(PROGRAM_SOURCES MATCHES "\\.cpp$")
    set(wrapper ${TMPICXX} -std=c++20)
  endif()
  list(TRANSFORM PROGRAM_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(werror "")
  if(TMPI_WERROR)
    set(werror -Werror)
  endif()
  # The target's file is named without regard to how it was built, so a changed runtime does not compile all programs again.
  add_custom_command(
    OUTPUT ${directory}/${name}
    COMMAND ${wrapper} -O2 -g1 -Wall -Wextra ${werror} ${PROGRAM_FLAGS} ${PROGRAM_SOURCES} -o ${directory}/${name} ${PROGRAM_LIBRARIES}
    DEPENDS ${PROGRAM_SOURCES} ${headers} ${CMAKE_SOURCE_DIR}/include/mpi.h ${CMAKE_SOURCE_DIR}/include/mpix.h
    COMMENT "tmpicc ${name}"
    VERBATIM)
  add_custom_target(program_${name} ALL DEPENDS ${directory}/${name})
  set_property(GLOBAL APPEND PROPERTY TMPI_PROGRAM_TARGETS program_${name})
  add_dependencies(program_${name} ${TMPI_PROGRAM_NEEDS})
endfunction()

# tmpi_fortran_program(NAME DIRECTORY SOURCES... [FLAGS flags...]): the same in Fortran, by this build's tmpifort: the target fortran_NAME.
function(tmpi_fortran_program name directory)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;FLAGS" ${ARGN})
  if(NOT TMPI_CAN_RUN_FORTRAN)
    return()
  endif()
  list(TRANSFORM PROGRAM_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  set(modules ${directory}/modules/${name}) # of its own: two programs may have a module of one name
  add_custom_command(
    OUTPUT ${directory}/${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${modules}
    COMMAND ${CMAKE_BINARY_DIR}/bin/tmpifort ${PROGRAM_FLAGS} -J${modules} ${PROGRAM_SOURCES} -o ${directory}/${name}
    DEPENDS ${PROGRAM_SOURCES} ${CMAKE_SOURCE_DIR}/include/mpif.h ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tmpi/modules/made
    COMMENT "tmpifort ${name}"
    VERBATIM)
  add_custom_target(fortran_${name} ALL DEPENDS ${directory}/${name})
  add_dependencies(fortran_${name} ${TMPI_PROGRAM_NEEDS} tmpifort tmpi_fortran tmpi_modules)
endfunction()
