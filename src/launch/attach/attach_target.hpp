// AttachTarget: what a node process must know to attach itself to the job: where to connect, and the secret
// that opens the door. As a text it goes through the environment of srun's tasks or a PMIx server's store,
// which only the job's user reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "net/secret.hpp"

namespace tmpi::launch {

struct AttachTarget {
  std::uint64_t job = 0;
  net::Secret secret;
  std::uint16_t port = 0;
  std::vector<std::string> addresses;  ///< numeric, of every interface of the machine; any may be unreachable
};

std::string to_text(const AttachTarget& target);
Result<AttachTarget> target_from_text(std::string_view text);

/// Connects to the target as node process `node`: tries all addresses at the same time and keeps the one
/// where somebody answers who knows the secret. The socket is closed on exec. Blocks at most `seconds`.
Result<int> attach(const AttachTarget& target, int node, double seconds);

}  // namespace tmpi::launch
