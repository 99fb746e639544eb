// AttachTarget: what a node process must know to attach itself to the job: where to connect, and the public key of
// who waits there. As a text it goes through the environment of srun's tasks or a PMIx server's store. Nothing of it
// is secret; it has to come over unchanged (docs/design/launchers.md, Who is trusted).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "net/key_agreement.hpp"

namespace tmpi::launch {

struct AttachTarget {
  std::uint64_t job = 0;
  net::PublicKey key{};  ///< of the AttachPort
  std::uint16_t port = 0;
  /// Of where it waits (Hello::network): its loopback addresses mean something to processes of the same one only. Elsewhere
  /// somebody else may listen there, and would stand between the two.
  std::string network;
  std::vector<std::string> addresses;  ///< numeric; any may be unreachable
};

std::string to_text(const AttachTarget& target);
Result<AttachTarget> target_from_text(std::string_view text);

struct Attached {
  Fd channel;       ///< a socket, closed on exec
  net::JobKey key;  ///< of the job, as the AttachPort has handed it over
};

/// The addresses that can lead there from a process that sees `network`: loopback ones in the same, all others elsewhere.
std::vector<std::string> addresses_from(const AttachTarget& target, std::string_view network);

/// Connects to the target as node process `node`, whose public key the AttachPort is told (`own`): tries all
/// addresses_from() here at the same time and keeps the one where the AttachPort proves that it has the key pair behind
/// target.key. Blocks at most `seconds`.
Result<Attached> attach(const AttachTarget& target, const net::KeyPair& own, int node, double seconds);

}  // namespace tmpi::launch
