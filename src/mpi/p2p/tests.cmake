tmpi_unit_test(mpi_p2p_test SOURCES p2p/p2p_test.cpp ROOMS mpi_testing mpi sched ult timers)
