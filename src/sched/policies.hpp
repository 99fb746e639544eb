// The scheduling policies (--sched) by name: one table for parsing, help and messages; policy.cpp makes them.
// Needs nothing of the scheduler, so that tmpirun can read it too.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/choices.hpp"
#include "base/result.hpp"

namespace tmpi::sched {

enum class PolicyKind : std::uint8_t { kFifo, kLifo, kRandom };

inline constexpr Choice<PolicyKind> kPolicies[] = {
    {"fifo", PolicyKind::kFifo, "first come, first served", ""},
    {"lifo", PolicyKind::kLifo, "the one made ready last comes first", ""},
    {"random", PolicyKind::kRandom,
     "finds a program's hidden dependence on order; the same seed on one worker gives the same order",
     ":SEED"},
};

struct PolicyChoice {
  PolicyKind kind = PolicyKind::kFifo;
  std::uint64_t seed = 0;  ///< of kRandom
};

/// "fifo", "lifo" or "random:SEED". Failure: what there is to choose from.
inline Result<PolicyChoice> parse_policy(std::string_view text) {
  PolicyChoice chosen;
  const auto [row, argument] = choose(kPolicies, text);
  bool fine = row != nullptr;
  if (fine && row->argument.empty()) {
    fine = text == row->name;
  } else if (fine) {
    const auto [end, error] =
        std::from_chars(argument.data(), argument.data() + argument.size(), chosen.seed);
    fine = error == std::errc() && end == argument.data() + argument.size();
  }
  if (!fine) {
    return Failure{"unknown scheduling policy '" + std::string(text) + "': choose " +
                   list_choices(kPolicies, ", ", " or ") + " with a number from 0 to 2^64 - 1"};
  }
  chosen.kind = row->value;
  return chosen;
}

}  // namespace tmpi::sched
