tmpi_unit_test(net_tcp_test SOURCES tcp/conformance_test.cpp tcp/hostile_test.cpp tcp/parts_test.cpp ROOMS net_conformance net timers LINK fmt::fmt Threads::Threads TIMEOUT 300)
