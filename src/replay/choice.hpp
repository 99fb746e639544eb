// Choice: one decision of a run that its program does not determine (which message a wildcard took, whether a test said
// yes, ...), and how it is written down: a kind and a number in a byte or two, more where there is more to say. The format
// is docs/design/replay.md's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tmpi::replay {

/// Written to files: never renumbered. 0 is what memory that nobody has written to says: the end.
enum class ChoiceKind : std::uint8_t {
  kNothing = 0,
  kReceive = 1,  ///< a blocking receive with a wildcard took the message of `source` with `tag`
  kProbe = 2,    ///< a probe with a wildcard found it
  kLate = 3,     ///< a nonblocking one is complete: number of the post - number of the completion, zigzag
  kPoll = 4,    ///< so many calls said that nothing is there yet (number / 2), then one said yes (number % 2)
  kIndex = 5,   ///< which of several requests: number - 1
  kSome = 6,    ///< which of them: `indices`
  kTime = 7,    ///< nanoseconds since the rank has asked this clock before, zigzag
  kNumber = 8,  ///< of the layout, zigzag
  kText = 9,    ///< of the layout, or random bytes
  kEnd = 10,    ///< the rank has come to its end
  kPlanned = 11,  ///< in front of all others: receive or probe `number` is to take this message (--explore)
  kDecided = 12,  ///< likewise: test or completion `number` is to come out as `source` (ExploredLog)
  kSynchronous = 13,  ///< likewise: sends wait for their receives, as MPI lets them
};
inline constexpr int kChoiceKinds = 14;

struct Choice {
  ChoiceKind kind = ChoiceKind::kNothing;
  std::uint64_t number = 0;
  int source = 0;
  int tag = 0;
  bool cancelled = false;    ///< kLate: it took none
  std::vector<int> indices;  ///< kSome
  std::string text;          ///< kText

  bool operator==(const Choice&) const = default;
};

/// "a receive that took the message of rank 2 with tag 5"
std::string describe(const Choice& choice);
/// What a program asks for that comes to a choice of this kind: "which message a receive takes".
const char* describe(ChoiceKind kind) noexcept;

/// Appends the choice. `last_tag`: of the choice with a tag before it; most are followed by one with the same tag.
void encode(const Choice& choice, int& last_tag, std::string& bytes);

/// Takes the first choice from `bytes`. False at the end, and if what is there is no choice or is cut short.
bool decode(std::string_view& bytes, int& last_tag, Choice& choice);

inline std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace tmpi::replay
