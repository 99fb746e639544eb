tmpi_unit_test(mpi_match_test ONE_THREAD SOURCES match/matcher_test.cpp ROOMS mpi sched ult timers)
