tmpi_unit_test(mpi_group_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/context_test.cpp ${CMAKE_CURRENT_LIST_DIR}/group_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/node_map_test.cpp ${CMAKE_CURRENT_LIST_DIR}/packing_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/../topo/dims_test.cpp
  ROOMS mpi net sched ult timers)
tmpi_unit_test(mpi_comm_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/comm_test.cpp
  ROOMS mpi_testing mpi_testing_nodes mpi net sched ult timers LINK fmt::fmt)
