# The modelled wire (docs/network.md, "sim").
list(APPEND TMPI_NET_SOURCES
     sim/arrivals.cpp sim/exposed.cpp sim/model.cpp sim/ring.cpp sim/segment.cpp sim/settings.cpp sim/sim.cpp sim/sim_peers.cpp
     sim/sim_receive.cpp sim/sim_send.cpp)
