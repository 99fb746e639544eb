tmpi_unit_test(mpi_diagnose_test ONE_THREAD SOURCES diagnose/diagnose_test.cpp ROOMS mpi_testing mpi sched ult timers)
