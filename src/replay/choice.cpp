#include "replay/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

namespace tmpi::replay {
namespace {

constexpr std::uint8_t kMore = 0x80;
constexpr int kFirstBits = 3;  // of the number that stand beside the kind

void put_number(std::uint64_t number, std::string& bytes) {
  while (number >= kMore) {
    bytes.push_back(static_cast<char>(number | kMore));
    number >>= 7;
  }
  bytes.push_back(static_cast<char>(number));
}

bool take_number(std::string_view& bytes, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & kMore) == 0) return true;
  }
  return false;
}

void put_first(ChoiceKind kind, std::uint64_t number, std::string& bytes) {
  constexpr std::uint64_t kLow = (1 << kFirstBits) - 1;
  const auto first = static_cast<std::uint8_t>(static_cast<std::uint8_t>(kind) | (number & kLow) << 4);
  const std::uint64_t rest = number >> kFirstBits;
  bytes.push_back(static_cast<char>(rest == 0 ? first : first | kMore));
  if (rest != 0) put_number(rest, bytes);
}

/// Source and, if it is another one than before, tag.
std::uint64_t envelope(const Choice& choice, int last_tag) {
  return static_cast<std::uint64_t>(static_cast<unsigned>(choice.source)) << 1 |
         static_cast<std::uint64_t>(choice.tag != last_tag);
}

void put_tag(const Choice& choice, int& last_tag, std::string& bytes) {
  if (choice.tag == last_tag) return;
  put_number(static_cast<unsigned>(choice.tag), bytes);
  last_tag = choice.tag;
}

bool take_tag(std::uint64_t envelope, std::string_view& bytes, int& last_tag, Choice& choice) {
  choice.source = static_cast<int>(envelope >> 1);
  if ((envelope & 1) != 0) {
    std::uint64_t tag = 0;
    if (!take_number(bytes, tag)) return false;
    last_tag = static_cast<int>(tag);
  }
  choice.tag = last_tag;
  return true;
}

/// Of a call that says which requests: no more than there can be.
bool take_indices(std::string_view& bytes, Choice& choice) {
  if (choice.number > bytes.size()) return false;
  for (std::uint64_t i = 0; i < choice.number; ++i) {
    std::uint64_t index = 0;
    if (!take_number(bytes, index) || index > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
      return false;
    choice.indices.push_back(static_cast<int>(index));
  }
  return true;
}

bool take_rest(std::string_view& bytes, int& last_tag, Choice& choice) {
  switch (choice.kind) {
    case ChoiceKind::kReceive:
    case ChoiceKind::kProbe: {
      const bool whole = take_tag(choice.number, bytes, last_tag, choice);
      choice.number = 0;
      return whole;
    }
    case ChoiceKind::kLate: {
      std::uint64_t took = 0;
      if (!take_number(bytes, took)) return false;
      choice.cancelled = took == 0;
      return choice.cancelled || take_tag(took - 1, bytes, last_tag, choice);
    }
    case ChoiceKind::kPlanned:
    case ChoiceKind::kDecided: {
      std::uint64_t taken = 0;
      return take_number(bytes, taken) && take_tag(taken, bytes, last_tag, choice);
    }
    case ChoiceKind::kSome:
      return take_indices(bytes, choice);
    case ChoiceKind::kText:
      if (choice.number > bytes.size()) return false;
      choice.text = bytes.substr(0, choice.number);
      bytes.remove_prefix(choice.number);
      return true;
    default:
      return static_cast<int>(choice.kind) < kChoiceKinds;
  }
}

}  // namespace

std::string describe(const Choice& choice) {
  const auto from = [&] {
    return fmt::format("the message of rank {} with tag {}", choice.source, choice.tag);
  };
  switch (choice.kind) {
    case ChoiceKind::kNothing:
      return "nothing";
    case ChoiceKind::kReceive:
      return "a receive that took " + from();
    case ChoiceKind::kProbe:
      return "a probe that found " + from();
    case ChoiceKind::kLate:
      return choice.cancelled ? "the end of a receive that was cancelled"
                              : "the completion of a receive that took " + from();
    case ChoiceKind::kPoll:
      return choice.number == 1 ? "a test or probe that said yes" : "a test or probe that said no";
    case ChoiceKind::kIndex:
      return choice.number == 0 ? "a completion of no request"
                                : fmt::format("the completion of request {} of an array", choice.number - 1);
    case ChoiceKind::kSome:
      return fmt::format("the completion of requests {} of an array", fmt::join(choice.indices, ", "));
    case ChoiceKind::kTime:
      return "a time";
    case ChoiceKind::kNumber:
      return fmt::format("a number of the layout, {}", unzigzag(choice.number));
    case ChoiceKind::kText:
      return "a name or random bytes";
    case ChoiceKind::kEnd:
      return "the end of the rank";
    case ChoiceKind::kPlanned:
      return "a receive or probe that is to take " + from();
    case ChoiceKind::kDecided:
      return "how a test or completion is to come out";
    case ChoiceKind::kSynchronous:
      return "that sends wait";
  }
  return "?";
}

const char* describe(ChoiceKind kind) noexcept {
  static constexpr const char* kAsked[kChoiceKinds] = {"nothing",
                                                       "which message a receive takes",
                                                       "which message a probe finds",
                                                       "which message a receive took that is complete",
                                                       "whether something is complete or there",
                                                       "which request is complete",
                                                       "which requests are complete",
                                                       "a time",
                                                       "a number of the layout",
                                                       "a name or random bytes",
                                                       "its end",
                                                       "a message that is planned",
                                                       "an answer that is planned",
                                                       "that sends wait"};
  return kAsked[static_cast<int>(kind)];
}

void encode(const Choice& choice, int& last_tag, std::string& bytes) {
  switch (choice.kind) {
    case ChoiceKind::kReceive:
    case ChoiceKind::kProbe:
      put_first(choice.kind, envelope(choice, last_tag), bytes);
      return put_tag(choice, last_tag, bytes);
    case ChoiceKind::kLate:
      put_first(choice.kind, choice.number, bytes);
      if (choice.cancelled) return put_number(0, bytes);
      put_number(envelope(choice, last_tag) + 1, bytes);
      return put_tag(choice, last_tag, bytes);
    case ChoiceKind::kPlanned:
    case ChoiceKind::kDecided:
      put_first(choice.kind, choice.number, bytes);
      put_number(envelope(choice, last_tag), bytes);
      return put_tag(choice, last_tag, bytes);
    case ChoiceKind::kSome:
      put_first(choice.kind, choice.indices.size(), bytes);
      for (const int index : choice.indices) put_number(static_cast<unsigned>(index), bytes);
      return;
    case ChoiceKind::kText:
      put_first(choice.kind, choice.text.size(), bytes);
      bytes += choice.text;
      return;
    default:
      put_first(choice.kind, choice.number, bytes);
  }
}

bool decode(std::string_view& bytes, int& last_tag, Choice& choice) {
  choice.indices.clear();
  choice.text.clear();
  choice.source = choice.tag = 0;
  choice.cancelled = false;
  if (bytes.empty() || bytes.front() == 0) return false;
  const auto first = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  choice.kind = static_cast<ChoiceKind>(first & 0xf);
  choice.number = first >> 4 & ((1 << kFirstBits) - 1);
  if ((first & kMore) != 0) {
    std::uint64_t rest = 0;
    if (!take_number(bytes, rest)) return false;
    choice.number |= rest << kFirstBits;
  }
  return take_rest(bytes, last_tag, choice);
}

}  // namespace tmpi::replay
