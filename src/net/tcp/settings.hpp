// What the user may say of tcp: --net tcp:interface=eth0,port=5000-5100,encrypt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tmpi::net::tcp {

struct Settings {
  std::string interface;         ///< name, network (10.0.0.0/8) or address; empty: tcp chooses
  std::uint16_t first_port = 0;  ///< where to listen: the first free port of these; 0: any
  std::uint16_t last_port = 0;
  bool encrypt = false;  ///< connections are sealed
};

inline constexpr const char* kSettingsHelp =
    "    interface=NAME|ADDRESS|NETWORK  use this interface (eth0), this address (192.168.1.5), or the "
    "interface\n"
    "                                    with an address in this network (10.0.0.0/8); IPv4 or IPv6. "
    "Default:\n"
    "                                    all interfaces that other hosts can reach; loopback on one machine\n"
    "    port=N|FIRST-LAST               listen on the first free one of these ports (default: any free "
    "port)\n"
    "    encrypt                         nobody on the way reads or changes what ranks send; costs either "
    "end a second of a core for each GB\n";

Result<Settings> parse_settings(std::string_view text);

}  // namespace tmpi::net::tcp
