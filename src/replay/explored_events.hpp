// What a run that --explore looks at leaves behind, rank by rank in the order of its calls: messages sent, receives asked for
// and done, collectives at which ranks wait for each other. In a file of chunks as the record itself (record_file.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tmpi::replay {

enum class ExploredKind : std::uint8_t {
  kNothing = 0,  ///< the end
  kSend = 1,     ///< to world rank `peer`; `source` is the sender's rank in the communicator
  kAsk =
      2,  ///< receive or probe `number`, with source and tag as asked; `peer`: whether it takes what it finds
  kTake = 3,  ///< it has found the message of `source` with `tag`
  kCollective =
      4,  ///< a collective of `number` members, Waits `tag`; `source`: the root; `peer`: own rank among them
  kDecide =
      5,  ///< test or completion `number`, Decides `peer`, has come out as `source`; bits of `context`: as what it might
};

/// What may come out in more than one way, beside what a receive takes.
enum class Decides : std::int32_t {
  kAnswer,  ///< whether a test or probe says yes: 1 or 0
  kRequest,  ///< which request of an array is complete, among the first 63: its index, kSeveral: more than one, or another
};
inline constexpr int kSeveral = 63;

/// Who of the members of a collective waits for whom.
enum class Waits : std::uint8_t { kAll, kFromRoot, kToRoot };

struct ExploredEvent {
  ExploredKind kind = ExploredKind::kNothing;
  std::uint8_t unused[3] = {};
  std::int32_t peer = 0;
  std::uint64_t context = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;
  std::uint32_t number = 0;
  std::uint32_t unused_too = 0;
};
static_assert(sizeof(ExploredEvent) == 32);

/// Begins what a node process says whose part of the explored logs, or of the record, is not whole.
inline constexpr std::string_view kCannotExplore = "--explore: what this run does cannot be written down";

std::string_view bytes_of(const ExploredEvent& event) noexcept;
/// All events up to the end.
std::vector<ExploredEvent> read_explored_events(std::string_view bytes);

}  // namespace tmpi::replay
