tmpi_unit_test(mpi_channels_test SOURCES p2p/worker_channels_test.cpp p2p/way_test.cpp ROOMS mpi sched ult timers)
tmpi_unit_test(mpi_p2p_test SOURCES p2p/p2p_test.cpp p2p/run_ahead_test.cpp ROOMS mpi_testing mpi sched ult timers)
