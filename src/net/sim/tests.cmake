tmpi_unit_test(net_sim_test TIMING SOURCES sim/loggp_test.cpp sim/model_test.cpp sim/ring_test.cpp sim/settings_test.cpp sim/sim_test.cpp
               ROOMS net timers LINK fmt::fmt Threads::Threads)
tmpi_unit_test(net_sim_conformance_test LONG_UNDER_TSAN TIMING SOURCES sim/conformance_test.cpp ROOMS net_conformance net timers LINK fmt::fmt Threads::Threads TIMEOUT 900)
