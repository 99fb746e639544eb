tmpi_unit_test(mpi_remote_test TIMING VARIANTS SOURCES ${CMAKE_CURRENT_LIST_DIR}/remote_test.cpp ${CMAKE_CURRENT_LIST_DIR}/transfer_queue_test.cpp ${CMAKE_CURRENT_LIST_DIR}/nonsense_test.cpp rma/reading_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/announce_test.cpp ${CMAKE_CURRENT_LIST_DIR}/arm_test.cpp ${CMAKE_CURRENT_LIST_DIR}/eager_policy_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/limit_switch_test.cpp ${CMAKE_CURRENT_LIST_DIR}/dynamic_limit_test.cpp
  ROOMS mpi_testing_nodes mpi net sched ult timers LINK fmt::fmt TIMEOUT 600)
