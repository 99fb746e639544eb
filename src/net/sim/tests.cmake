tmpi_unit_test(net_sim_test SOURCES sim/model_test.cpp sim/ring_test.cpp sim/settings_test.cpp sim/sim_test.cpp
               ROOMS net timers LINK fmt::fmt Threads::Threads TIMEOUT 120)
tmpi_unit_test(net_sim_conformance_test LONG_UNDER_TSAN SOURCES sim/conformance_test.cpp ROOMS net_conformance net timers LINK fmt::fmt Threads::Threads TIMEOUT 300)
