# The text of errors that end the job.
tmpi_program(fatal ${directory} SOURCES fatal.c)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME mpi/fatal COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/fatal.py ${TMPIRUN} ${directory}/fatal)
set_tests_properties(mpi/fatal PROPERTIES TIMEOUT 900 LABELS "mpi")
