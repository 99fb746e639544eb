list(APPEND TMPI_MPI_SOURCES core/blocked.cpp diagnose/cycle.cpp diagnose/deadlock.cpp diagnose/place.cpp)
