tmpi_unit_test(mpi_coll_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/args_test.cpp ${CMAKE_CURRENT_LIST_DIR}/move_test.cpp ${CMAKE_CURRENT_LIST_DIR}/reduce_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/table_test.cpp
  ROOMS mpi_testing mpi sched ult timers TIMEOUT 180)
tmpi_unit_test(mpi_coll_nonblocking_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/nonblocking_test.cpp
  ROOMS mpi_testing mpi sched ult timers TIMEOUT 180)
