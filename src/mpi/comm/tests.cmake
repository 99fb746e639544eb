tmpi_unit_test(mpi_group_test ONE_THREAD
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/context_test.cpp ${CMAKE_CURRENT_LIST_DIR}/group_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/node_map_test.cpp ${CMAKE_CURRENT_LIST_DIR}/packing_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/../topo/dims_test.cpp
  ROOMS mpi net sched ult timers)
