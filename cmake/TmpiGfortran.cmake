# TMPI_GFORTRAN: the compiler that the modules are made for; false if there is none that compiles them. Also run by itself
# (tests/fortran/old_compiler.cmake).
find_program(TMPI_GFORTRAN gfortran DOC "The Fortran compiler that the modules are made for")
set(without_modules "the modules mpi and mpi_f08, and Fortran's tests, are left out; tmpi-fortran-modules makes the modules for a compiler")
if(TMPI_GFORTRAN)
  # Older ones do not take strings in interfaces with BIND(C).
  execute_process(COMMAND ${TMPI_GFORTRAN} -dumpversion OUTPUT_VARIABLE gfortran_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT gfortran_version VERSION_GREATER_EQUAL 12)
    message(STATUS "${TMPI_GFORTRAN} is version ${gfortran_version}, and 12 is needed: ${without_modules}")
    set(TMPI_GFORTRAN TMPI_GFORTRAN-NOTFOUND CACHE FILEPATH "The Fortran compiler that the modules are made for" FORCE)
  endif()
else()
  message(STATUS "no gfortran: ${without_modules}")
endif()
