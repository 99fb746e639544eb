# The same programs under other MPIs, where these have the functions and do what the report says (programs.tsv): that what they
# check is the standard, and not only what tmpi does. Few ranks: theirs spin while they wait.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND OR TMPI_SANITIZE)
  return()
endif()
foreach(other mpich openmpi)
  add_test(NAME mpi/under/${other} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/run.py --mpi ${other} --max-ranks 3)
  set_tests_properties(mpi/under/${other} PROPERTIES TIMEOUT 1800 LABELS "mpi;long" SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
endforeach()
