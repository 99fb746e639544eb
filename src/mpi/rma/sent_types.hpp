// SentTypes: the datatypes of targets that this node has sent to others: each once, known by a number from then on.
// Used under the lock of the protocol layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mpi/datatype/datatype.hpp"
#include "mpi/remote/core.hpp"
#include "mpi/rma/wire.hpp"

namespace tmpi::mpi::rma {

class SentTypes {
 public:
  /// What a header says of `type`, which `peer` knows then: it may be sent first.
  std::uint32_t number_for(remote::Core& core, int peer, const Datatype& type);
  /// An operation that will use numbers later has begun, or is over: until then none becomes invalid.
  void hold() noexcept { ++held_; }
  void let_go() noexcept { --held_; }

 private:
  struct Known {
    std::uint32_t number = 0;
    std::vector<bool> peers;
  };
  void send(remote::Core& core, int peer, const Datatype& type, std::uint32_t number);
  void forget(remote::Core& core);

  std::unordered_map<const Datatype*, Known> types_;  // each with a reference
  std::vector<bool> told_;                            // peers that have been sent any
  std::uint32_t next_ = 0;
  int held_ = 0;
};

/// Sends a message of this room; see Backlog::post.
bool send_header(remote::Core& core, int peer, const Header& header, remote::Bytes payload = {},
                 net::Completion* completion = nullptr) noexcept;

/// A payload that is freed when it has left.
struct OwnPayload : net::Completion {
  OwnPayload() noexcept {
    done = [](net::Completion& self) noexcept { delete static_cast<OwnPayload*>(&self); };
  }
  std::unique_ptr<std::byte[]> bytes;
};
/// Sends it with one; `size` bytes at `data`, in `payload` or memory that stays.
void send_owned(remote::Core& core, int peer, const Header& header, const void* data, std::size_t size,
                std::unique_ptr<OwnPayload> payload);

}  // namespace tmpi::mpi::rma
