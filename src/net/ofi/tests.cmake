if(OFI_INCLUDE_DIR)
  tmpi_unit_test(net_ofi_test LONG_UNDER_TSAN TIMING SOURCES ofi/ofi_test.cpp ROOMS net_conformance net timers LINK fmt::fmt Threads::Threads TIMEOUT 600)
endif()
