// Hello: what a node process says of itself first (the payload of kHello).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tmpi::launch {

struct Hello {
  std::uint32_t wire_version = 0;
  int pid = 0;
  std::string version;   ///< of tmpi
  std::string host;      ///< as the machine calls itself
  std::string machine;   ///< the same for all processes of a machine since it was started, else different
  std::string cores;     ///< the same for processes that may use the same processors of a machine
  std::string network;   ///< the same for processes that see the same network interfaces of a machine
  std::string no_verbs;  ///< why --net auto does not take verbs there; empty: it may
};

Hello own_hello();

std::string pack(const Hello& hello);
/// wire_version is 0 if it is none at all; texts of another wire version may be missing.
Hello unpack_hello(std::string_view payload);

}  // namespace tmpi::launch
