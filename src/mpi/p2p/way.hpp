// The way of a message. choose_way() decides it, by one table of sizes, and nobody else compares sizes for that. What
// `tmpirun --net help`, the control variables tmpi_limit_slot ... and docs/design/matching.md say is printed from the same table.
//
//   way                   begun by                                    delivered by
//   slot, ring, packed    post(), channel.cpp                         match(), channel.cpp: the receiver's worker
//   eager, rendezvous     leave(), send.cpp, which delivers to a      accept(), transfer.cpp: the receiver
//                         posted receive: deliver(), transfer.cpp
//   network               RemoteCalls::send_now() and start()         mpi/remote/
//
// A channel that cannot take a message now (no room, no memory, too much unexpected at the receiver) makes it go as if both
// ranks were the worker's: ReceiverPlace::kMatcher. An eager message without memory for its copy becomes a rendezvous.
// Nothing here suspends; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "mpi/match/message.hpp"

namespace tmpi::mpi {

/// How far the receiver is from the sender.
enum class ReceiverPlace : std::uint8_t {
  kMatcher,  ///< the sender goes to the receiver's matcher itself: a rank of its own worker, or no channel has room
  kWorker,     ///< a rank of another worker of the node process
  kOtherNode,  ///< a rank of another node process
};

/// How the data lie with the sender (Datatype::scattered).
enum class DataLayout : std::uint8_t { kRuns, kScattered };

enum class Way : std::uint8_t { kSlot, kRing, kPacked, kEager, kRendezvous, kNetwork };

struct WayRow {
  static constexpr std::uint8_t kInNode =
                                    1 << int(ReceiverPlace::kMatcher) | 1 << int(ReceiverPlace::kWorker),
                                kBetweenWorkers = 1 << int(ReceiverPlace::kWorker),
                                kBetweenNodes = 1 << int(ReceiverPlace::kOtherNode);
  static constexpr MPI_Count kAnySize = std::numeric_limits<MPI_Count>::max();

  Way way;
  std::string_view name;
  std::uint8_t places;       ///< bit i: takes messages to ReceiverPlace i
  MPI_Count most;            ///< bytes
  MPI_Count most_scattered;  ///< the same of data that lie scattered
  bool synchronous;          ///< takes those of MPI_Ssend, too
  std::string_view what;

  constexpr bool takes(ReceiverPlace place, MPI_Count bytes, DataLayout layout,
                       SendMode mode) const noexcept {
    return (places >> int(place) & 1) != 0 && (synchronous || mode != SendMode::kSynchronous) &&
           (bytes <= most || (layout == DataLayout::kScattered && bytes <= most_scattered));
  }
};

/// The table: a message goes the first way that takes it.
///
/// Up to 1 KiB a second copy costs less than a look into the matcher of another core. Scattered data are packed by their
/// sender and unpacked by their receiver up to more bytes: written from another core, each element would take a cache line
/// away from the receiver's, and with it the receiver's own data next to it.
inline constexpr WayRow kWays[] = {
    {Way::kSlot, "slot", WayRow::kBetweenWorkers, 96, 96, false,
     "in a slot of the channel between the workers"},
    {Way::kRing, "ring", WayRow::kBetweenWorkers, 1024, 1024, false,
     "beside the slot, in the channel's payload ring or a cell"},
    {Way::kPacked, "packed", WayRow::kBetweenWorkers, 0, 65535, false, "beside the slot, packed in a cell"},
    {Way::kEager, "eager", WayRow::kInNode, 4096, 4096, false,
     "into the posted receive; without one, a copy in a cell"},
    {Way::kRendezvous, "rendezvous", WayRow::kInNode, WayRow::kAnySize, WayRow::kAnySize, true,
     "into the posted receive; without one, the sender waits"},
    {Way::kNetwork, "network", WayRow::kBetweenNodes, WayRow::kAnySize, WayRow::kAnySize, true,
     "by the transport; see --eager-limit and --rndv"},
};

constexpr const WayRow& row_of(Way way) noexcept {
  return kWays[int(way)];
}

/// Through the channel between two workers (channel.hpp).
constexpr bool goes_by_channel(Way way) noexcept {
  return row_of(way).places == WayRow::kBetweenWorkers;
}

/// Which way a message goes. Unrolled where place and mode are known, it is as many comparisons as the table has sizes for
/// them.
[[gnu::always_inline]] constexpr Way choose_way(ReceiverPlace place, MPI_Count bytes, DataLayout layout,
                                                SendMode mode) noexcept {
#pragma GCC unroll 8
  for (const WayRow& row : kWays)
    if (row.takes(place, bytes, layout, mode)) return row.way;
  return Way::kNetwork;  // the last rows take everything
}

/// Who copies what is copied from one rank's buffer to another's, of two workers.
enum class Copiers : std::uint8_t { kOne, kHalves, kPieces };

struct CopyRow {
  Copiers copiers;
  MPI_Count most;
  std::string_view what;
};

inline constexpr CopyRow kCopies[] = {
    {Copiers::kOne, (MPI_Count{64} << 10) - 1, "by one worker"},
    {Copiers::kHalves, MPI_Count{512} << 10, "in halves, if the other worker idles"},
    {Copiers::kPieces, WayRow::kAnySize, "in pieces of 64 KiB that both take; one that sleeps is woken"},
};

/// Bytes of the smallest copy that two workers share.
inline constexpr MPI_Count kLeastShared = kCopies[0].most + 1;

[[gnu::always_inline]] constexpr Copiers choose_copiers(MPI_Count bytes) noexcept {
#pragma GCC unroll 4
  for (const CopyRow& row : kCopies)
    if (bytes <= row.most) return row.copiers;
  return Copiers::kPieces;
}

/// Both tables in words.
std::string describe_ways();

}  // namespace tmpi::mpi
