# Node processes that a PMIx server or Slurm starts (attachment.hpp). The programs that gather them are small and know neither MPI
# nor the loader; only they pay for libsodium and libpmix.
target_sources(tmpi_launch_common PRIVATE affinity.cpp attachment.cpp slurm_allocation.cpp)
target_sources(tmpi_launch_node PRIVATE attached_channel.cpp)
tmpi_room(launch_handshake SOURCES ${CMAKE_SOURCE_DIR}/src/net/handshake.cpp ${CMAKE_SOURCE_DIR}/src/net/handshake_io.cpp
                                   ${CMAKE_SOURCE_DIR}/src/net/secret.cpp LINK fmt::fmt PkgConfig::SODIUM)
target_compile_definitions(tmpi_launch_handshake PRIVATE "TMPI_VERSION=\"${PROJECT_VERSION}\"")
tmpi_room(launch_attach SOURCES attach_port.cpp attach_target.cpp become.cpp LINK fmt::fmt)
set(attach_objects tmpi_launch_attach tmpi_launch_common tmpi_launch_handshake)

add_executable(tmpi-slurm slurm_main.cpp)
target_link_libraries(tmpi-slurm PRIVATE ${attach_objects} fmt::fmt)
install(TARGETS tmpi-slurm DESTINATION ${CMAKE_INSTALL_BINDIR})

add_executable(tmpi-pmix pmix_main.cpp pmix_client.cpp)
target_link_libraries(tmpi-pmix PRIVATE ${attach_objects} fmt::fmt PkgConfig::PMIX)
install(TARGETS tmpi-pmix DESTINATION ${CMAKE_INSTALL_BINDIR})

tmpi_unit_test(launch_attach_test SOURCES attach_test.cpp attachment_test.cpp slurm_allocation_test.cpp
               ROOMS launch_attach launch_common launch_handshake LINK fmt::fmt Threads::Threads)
