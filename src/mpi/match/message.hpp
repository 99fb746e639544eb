// What lies in a matcher: posted receives and unexpected messages. Both are links inside something bigger (a
// Request, a pooled cell), so that matching allocates nothing.
#pragma once

#include <cstdint>

#include "mpi.h"

namespace tmpi::mpi {

struct Request;
class Datatype;

/// MPI report, 3.4.
enum class SendMode : std::uint8_t { kStandard, kSynchronous, kReady, kBuffered };

/// What a message is matched by (MPI report, 3.5): communicator context, source rank in it, tag.
struct MatchKey {
  std::uint64_t context = 0;
  int source = 0;  ///< MPI_ANY_SOURCE in a receive
  int tag = 0;     ///< MPI_ANY_TAG in a receive

  bool exact() const noexcept { return source != MPI_ANY_SOURCE && tag != MPI_ANY_TAG; }
  bool operator==(const MatchKey&) const = default;
  /// Does this receive take that message?
  bool accepts(const MatchKey& message) const noexcept {
    return context == message.context && (source == message.source || source == MPI_ANY_SOURCE) &&
           (tag == message.tag || tag == MPI_ANY_TAG);
  }
  std::uint64_t hash() const noexcept {
    std::uint64_t h = context * 0x9e3779b97f4a7c15u +
                      ((static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32) |
                       static_cast<std::uint32_t>(tag));
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ (h >> 32);
  }
};

struct PostedReceive {
  MatchKey key;
  std::uint64_t sequence = 0;  ///< order of posting within the matcher
  Request* request = nullptr;
  PostedReceive* next = nullptr;  ///< of the same key, bucket or wildcard list
  PostedReceive* previous = nullptr;
  bool queued = false;     ///< in the matcher; under its lock
  bool is_inline = false;  ///< there in an inline entry; while `queued`
};

/// Where a message comes from, and its data lies. Those from elsewhere are received by mpi/remote/.
enum class MessagePlace : std::uint8_t {
  kHere,                ///< of this node: in a cell, or in the sender's buffer
  kEagerFromElsewhere,  ///< of another node, with its data
  kElsewhere,           ///< of another node, its data is still there
};

struct Message {
  MatchKey key;
  MPI_Count bytes = 0;            ///< size of the payload
  const void* payload = nullptr;  ///< packed bytes in a cell; null: they lie with the sender
  Request* sender = nullptr;  ///< large or synchronous: the sender's request; its buffer holds the data until
                              ///< it is completed
  Message* next = nullptr;    ///< arrival list; of one that a matched probe has found: Rank::matched
  Message* previous = nullptr;
  Message* bucket_next = nullptr;  ///< hash bucket, only while the matcher has a table
  Message* bucket_previous = nullptr;
  bool queued = false;  ///< in the matcher; under its lock
  MessagePlace place = MessagePlace::kHere;
  std::uint16_t serial = 0;  ///< low bits of a nonblocking send's number (Request::serial); else 0
};

}  // namespace tmpi::mpi
