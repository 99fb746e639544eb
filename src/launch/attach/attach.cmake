# Node processes that a PMIx server or Slurm starts (attachment.hpp). The programs that gather them are small and know neither MPI
# nor the loader; only they pay for libsodium and libpmix.
tmpi_room(launch_handshake SOURCES ${CMAKE_SOURCE_DIR}/src/net/handshake.cpp ${CMAKE_SOURCE_DIR}/src/net/handshake_io.cpp
                                   ${CMAKE_SOURCE_DIR}/src/net/key_agreement.cpp ${CMAKE_SOURCE_DIR}/src/net/listener.cpp 
                                   ${CMAKE_SOURCE_DIR}/src/net/tcp/endpoint.cpp ${CMAKE_SOURCE_DIR}/src/net/tcp/interfaces.cpp ${CMAKE_SOURCE_DIR}/src/net/tcp/socket.cpp LINK fmt::fmt PkgConfig::SODIUM)
target_compile_definitions(tmpi_launch_handshake PRIVATE "TMPI_VERSION=\"${PROJECT_VERSION}\"")
tmpi_sources(sources attach EXCEPT attach/attachment.cpp attach/slurm_allocation.cpp attach/slurm_main.cpp attach/pmix_main.cpp attach/pmix_client.cpp)
tmpi_room(launch_gather SOURCES ${sources} LINK fmt::fmt)
tmpi_cold(tmpi_launch_gather)
set(attach_objects tmpi_launch_gather tmpi_launch_attach tmpi_launch_common tmpi_launch_handshake tmpi_launch_sealed tmpi_launch_secret)

add_executable(tmpi-slurm attach/slurm_main.cpp)
target_link_libraries(tmpi-slurm PRIVATE ${attach_objects} fmt::fmt)
install(TARGETS tmpi-slurm DESTINATION ${CMAKE_INSTALL_BINDIR})

add_executable(tmpi-pmix attach/pmix_main.cpp attach/pmix_client.cpp)
target_link_libraries(tmpi-pmix PRIVATE ${attach_objects} fmt::fmt PkgConfig::PMIX)
install(TARGETS tmpi-pmix DESTINATION ${CMAKE_INSTALL_BINDIR})

# The test's threads play node processes; the programs have one.
tmpi_unit_test(launch_attach_test ONE_THREAD SOURCES attach/attach_test.cpp attach/attachment_test.cpp attach/node_keys_test.cpp attach/slurm_allocation_test.cpp
               ROOMS launch_gather launch_attach launch_common launch_handshake launch_sealed launch_secret LINK fmt::fmt Threads::Threads)
