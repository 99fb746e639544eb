// What the user may say of verbs: --net verbs:mlx5_1,1,3 or verbs:device=mlx5_1,port=1,gid=3,interface=ib0.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tmpi::net::verbs {

struct Settings {
  /// As in /sys/class/infiniband, or several with + between; empty: the best one with an active port.
  std::string device;
  int port = 0;       ///< 0: the first active one
  int gid = -1;       ///< index in the port's table; -1: the best one
  int patience = 10;  ///< seconds after which a work request that neither ends nor fails ends the job
  std::string side;   ///< settings of the tcp connections by which queue pairs are connected
};

extern const char* const kSettingsHelp;

inline constexpr std::size_t kMostRails = 8;

/// "a+b": {"a", "b"}; empty: {}.
std::vector<std::string> names_of(std::string_view device);

Result<Settings> parse_settings(std::string_view text);

}  // namespace tmpi::net::verbs
