tmpi_unit_test(mpi_comm_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/comm_test.cpp
  ROOMS mpi_testing mpi_testing_nodes mpi net sched ult timers LINK fmt::fmt)
