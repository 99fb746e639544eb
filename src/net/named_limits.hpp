// NamedLimit: a size inside a transport from which on something is done in another way, as tools see it
// (mpi/tool/controls.cpp: control variables). Constants; any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace tmpi::net {

struct NamedLimit {
  const char* name;  ///< begins with the transport's: "tcp_copied"
  std::uint64_t value;
  const char* description;
};

/// Of all transports, whichever the job uses.
std::vector<NamedLimit> named_limits();

}  // namespace tmpi::net
