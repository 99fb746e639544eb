tmpi_unit_test(mpi_io_test ONE_THREAD SOURCES io/io_test.cpp datatype/type_map.cpp ROOMS mpi sched ult timers LINK fmt::fmt)
