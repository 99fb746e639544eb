tmpi_unit_test(mpi_diagnose_test SOURCES diagnose/diagnose_test.cpp ROOMS mpi_testing mpi sched ult timers)
