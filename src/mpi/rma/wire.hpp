// The active messages of one-sided communication, as they lie on the wire: all have the same header. They travel as
// remote::Kind::kOneSided, in order with everything else between two nodes. Layout changes only here.
#pragma once

#include <cstdint>
#include <type_traits>

#include "mpi/remote/wire.hpp"

namespace tmpi::mpi::rma {

enum class What : std::uint8_t {
  // To a target's node.
  kPut = 1,         ///< data: bytes [offset, ...) of the packed stream
  kGet,             ///< `bytes` from `offset` on are wanted
  kCombine,         ///< data likewise: elements; with kFetch what was there is wanted
  kCompareAndSwap,  ///< data: what it becomes, then what it is compared with
  kFinish,          ///< only to be answered
  kLock,            ///< operation: 1 if exclusive
  kUnlock,
  kPosted,     ///< the rank `from` has exposed its memory to `to`
  kCompleted,  ///< the rank `from` has accessed the memory of `to`
  kType,       ///< data: a layout, from now on known by its number
  kForget,     ///< all layouts that this node has sent
  kConceal,    ///< what has been exposed for the operation has been read
  // Back.
  // kReply: data: what was wanted, from `offset` on; with kRefused nothing, `bytes` say how much it would be; with kExposed
  // besides it cannot be exposed, and has to be asked for by pieces.
  kReply,
  kAnswer,   ///< everything that came before is done
  kGranted,  ///< a lock
  kRefuse,   ///< an operation has not been done; operation: the error class
  kTaken,    ///< what the origin has exposed has been read, or, with kRefused, will not be
};
/// Flags. kExposed: in place of the data travels where they may be read (reading.hpp); of kGet: so they may come.
inline constexpr std::uint16_t kWantsAnswer = 1, kFetch = 2, kRefused = 4, kExposed = 8;

struct Header {
  std::uint64_t window = 0;       ///< context
  std::uint64_t id = 0;           ///< of the operation at the origin, for replies; of kType the number
  std::int64_t displacement = 0;  ///< bytes; in a dynamic window an address
  std::int64_t count = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::uint32_t type =
      0;                  ///< a predefined type's handle; with kSentType the number of one that has been sent
  std::int32_t from = 0;  ///< ranks in the window
  std::int32_t to = 0;
  What what{};
  std::uint8_t operation = 0;  ///< Operator; see above
  std::uint16_t flags = 0;
};
inline constexpr std::uint32_t kSentType = 0x80000000;

static_assert(sizeof(Header) == 64 && sizeof(Header) <= remote::kMostHeader);
static_assert(std::has_unique_object_representations_v<Header>);

}  // namespace tmpi::mpi::rma
