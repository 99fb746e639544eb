tmpi_unit_test(op_test ONE_THREAD SOURCES ${CMAKE_CURRENT_LIST_DIR}/op_test.cpp ROOMS mpi sched ult timers)
if(TARGET op_test AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_definitions(op_test PRIVATE TMPI_LOOPS_AVX2=1)
endif()
