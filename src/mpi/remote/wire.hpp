// The active messages of the protocol layer, as they lie on the wire: fixed widths, little endian (tmpi runs
// on x86-64), padded explicitly. Nodes of one job run the same version of tmpi (net/handshake.hpp). A
// transfer is named by an id of the node that keeps it (table.hpp), never by an address. Layout changes only
// here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mpi/match/message.hpp"

namespace tmpi::mpi::remote {

enum class Kind : std::uint8_t {
  kEager = 1,  ///< Envelope [and a Transfer if synchronous] and the data
  kRts,        ///< a message that is too large to be sent unasked
  kCts,        ///< the receive is there: send
  kData,       ///< a piece of a message
  kFin,        ///< Transfer of the sender: synchronous eager: matched; read: done
  kCredit,     ///< eager messages have left the receiver's memory
  kAnnounce,   ///< a large receive is posted
  kRetract,    ///< what has been announced is there no longer
  kCancel,     ///< withdraw a message if nobody has received it yet
  kCancelReply,
  kOneSided,   ///< of the room above (active.hpp)
  kLimit,      ///< a step of the change of an eager limit
  kSwitched,   ///< the last message by a connection: what follows goes by another one
  kComputing,  ///< the node's ranks compute between start and wait, or do so no longer
};

/// What a message is matched by, and to whom it goes.
struct Envelope {
  std::uint64_t context = 0;
  std::int32_t source = 0;  ///< rank in the communicator
  std::int32_t tag = 0;
  std::int32_t dest = 0;     ///< world rank
  std::uint16_t serial = 0;  ///< Message::serial
  std::uint16_t flags = 0;
  std::uint64_t bytes = 0;  ///< of the packed data

  MatchKey key() const noexcept { return {context, source, tag}; }
};
/// Flags of an Envelope.
inline constexpr std::uint16_t kSynchronous = 1;  ///< kEager: FIN when matched
inline constexpr std::uint16_t kAnnounced = 2;    ///< the sender has used an announcement up
inline constexpr std::uint16_t kUncharged = 4;    ///< kEager: has cost the sender no credit

struct Transfer {
  std::uint64_t id = 0;  ///< of the node that gets the message
};

struct Eager {
  Envelope envelope;
  Transfer sender;  ///< only with kSynchronous
};

struct Rts {
  Envelope envelope;
  std::uint64_t sender = 0;
  std::uint64_t address = 0;  ///< of the data in the sender's memory, exposed as `key`; 0: not to be read
  std::uint64_t key[2] = {0, 0};
};

struct Cts {
  std::uint64_t sender = 0;
  std::uint64_t receiver = 0;
  std::uint64_t bytes = 0;      ///< what the receive has room for
  std::uint32_t segmented = 0;  ///< in pieces of at most kSegment
  std::uint32_t padding = 0;
  std::uint64_t waited = 0;  ///< ns since the receive was posted, if messages are served in order
};

struct Data {
  std::uint64_t receiver = 0;
  std::uint64_t offset = 0;
};

struct Credit {
  std::uint64_t bytes = 0;
  std::int32_t dest = 0;  ///< world rank that has received
  std::uint32_t padding = 0;
};

struct Announce {
  std::uint64_t context = 0;
  std::int32_t sender = 0;  ///< world ranks
  std::int32_t receiver = 0;
  std::int32_t tag = 0;
  std::uint32_t padding = 0;
  std::uint64_t capacity = 0;  ///< bytes; not used by kRetract
};

struct Cancel {
  Envelope envelope;
  std::uint64_t id = 0;  ///< for the reply
};

struct CancelReply {
  std::uint64_t id = 0;
  std::uint64_t sender = 0;  ///< the transfer of the message that has been withdrawn; 0: it had none
  std::uint32_t withdrawn = 0;
  std::uint32_t padding = 0;
};

/// kLimit, kSwitched; limit_switch.hpp says what they mean.
struct LimitChange {
  std::uint32_t step = 0;
  std::uint32_t padding = 0;
  std::int64_t limit = 0;
  std::array<std::byte, 48> endpoint{};  ///< net::Endpoint
};

/// kComputing; EagerPolicy says what it means.
struct Computing {
  std::uint32_t now = 0;  ///< 0, 1
  std::uint32_t padding = 0;
};

static_assert(sizeof(Envelope) == 32 && sizeof(Eager) == 40 && sizeof(Rts) == 64 && sizeof(Cts) == 40);
static_assert(sizeof(Data) == 16 && sizeof(Credit) == 16 && sizeof(Announce) == 32 && sizeof(Cancel) == 40);
static_assert(sizeof(CancelReply) == 24 && sizeof(Transfer) == 8 && sizeof(LimitChange) == 64);
static_assert(sizeof(Computing) == 8);
static_assert(std::has_unique_object_representations_v<Envelope> &&
              std::has_unique_object_representations_v<Rts> &&
              std::has_unique_object_representations_v<Cts> &&
              std::has_unique_object_representations_v<Announce> &&
              std::has_unique_object_representations_v<CancelReply>);

/// Header of the longest message; every transport takes at least 128 bytes.
inline constexpr std::size_t kMostHeader = sizeof(Rts);
/// Large messages that are packed or unpacked on their way travel in pieces of this size.
inline constexpr MPI_Count kSegment = MPI_Count{256} << 10;

}  // namespace tmpi::mpi::remote
