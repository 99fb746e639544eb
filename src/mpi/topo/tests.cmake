tmpi_unit_test(mpi_topo_test ONE_THREAD SOURCES ${CMAKE_CURRENT_LIST_DIR}/neighbours_test.cpp ROOMS mpi sched ult timers)
