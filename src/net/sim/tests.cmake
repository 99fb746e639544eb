tmpi_unit_test(net_sim_test SOURCES sim/model_test.cpp sim/ring_test.cpp sim/settings_test.cpp sim/sim_test.cpp
               ROOMS net timers LINK Threads::Threads TIMEOUT 120)
