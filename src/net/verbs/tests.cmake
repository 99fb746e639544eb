tmpi_unit_test(net_verbs_test LONG_UNDER_TSAN SOURCES verbs/verbs_test.cpp ROOMS net_conformance net timers LINK fmt::fmt Threads::Threads TIMEOUT 600)
target_include_directories(net_verbs_test SYSTEM PRIVATE ${VERBS_INCLUDE_DIR})
