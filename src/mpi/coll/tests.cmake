tmpi_unit_test(mpi_coll_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/args_test.cpp ${CMAKE_CURRENT_LIST_DIR}/move_test.cpp ${CMAKE_CURRENT_LIST_DIR}/reduce_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/table_test.cpp ${CMAKE_CURRENT_LIST_DIR}/../shm/slot_ring_test.cpp
  ROOMS mpi_testing mpi_testing_nodes mpi net sched ult timers LINK fmt::fmt TIMEOUT 600)
tmpi_unit_test(mpi_coll_nonblocking_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/nonblocking_test.cpp
  ROOMS mpi_testing mpi_testing_nodes mpi net sched ult timers LINK fmt::fmt)
tmpi_unit_test(mpi_coll_nodes_test VARIANTS SOURCES ${CMAKE_CURRENT_LIST_DIR}/nodes_test.cpp
  ROOMS mpi_testing mpi_testing_nodes mpi net sched ult timers LINK fmt::fmt)
