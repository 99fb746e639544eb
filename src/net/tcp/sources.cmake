list(APPEND TMPI_NET_SOURCES tcp/acceptor.cpp tcp/endpoint.cpp tcp/frame_parser.cpp tcp/interfaces.cpp tcp/link.cpp tcp/link_connect.cpp tcp/send_queue.cpp
     tcp/settings.cpp tcp/socket.cpp tcp/tcp.cpp)
