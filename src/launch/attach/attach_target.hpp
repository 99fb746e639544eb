// AttachTarget: what a node process must know to attach itself to the job: where to connect, and the public key of
// who waits there. As a text it goes through the environment of srun's tasks or a PMIx server's store. Nothing of it
// is secret; it has to come over unchanged (docs/design/launchers.md, Who is trusted).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "net/key_agreement.hpp"

namespace tmpi::launch {

struct AttachTarget {
  std::uint64_t job = 0;
  net::PublicKey key{};  ///< of the AttachPort
  std::uint16_t port = 0;
  std::vector<std::string> addresses;  ///< numeric, of every interface of the machine; any may be unreachable
};

std::string to_text(const AttachTarget& target);
Result<AttachTarget> target_from_text(std::string_view text);

struct Attached {
  int channel = -1;  ///< a socket, closed on exec
  net::JobKey key;   ///< of the job, as the AttachPort has handed it over
};

/// Connects to the target as node process `node`, whose public key the AttachPort is told (`own`): tries all
/// addresses at the same time and keeps the one where the AttachPort proves that it has the key pair behind
/// target.key. Blocks at most `seconds`.
Result<Attached> attach(const AttachTarget& target, const net::KeyPair& own, int node, double seconds);

}  // namespace tmpi::launch
