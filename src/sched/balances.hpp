// How tasks are balanced over workers (--balance) by name: one table for parsing, help and messages; balancer.cpp
// does it. Needs nothing of the scheduler, so that tmpirun can read it too. docs/design/load-balance.md.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/choices.hpp"
#include "base/result.hpp"

namespace tmpi::sched {

enum class BalanceKind : std::uint8_t { kNone, kSteal, kGreedy, kRefine, kAuto, kManual, kRotate };

inline constexpr Choice<BalanceKind> kBalances[] = {
    {"none", BalanceKind::kNone, "each rank stays on its core", ""},
    {"steal", BalanceKind::kSteal, "a core that idles gets ready ranks of a busy one", ""},
    {"greedy", BalanceKind::kGreedy, "from the measured load of each rank, all ranks anew", "[:period=MS]"},
    {"refine", BalanceKind::kRefine, "the same with as few moves as even out the cores", "[:period=MS]"},
    {"auto", BalanceKind::kAuto, "refine and steal", "[:period=MS]"},
    {"manual", BalanceKind::kManual, "ranks move by MPIX_Migrate alone", ""},
    {"rotate", BalanceKind::kRotate, "every rank moves whenever it can: for tests", ""},
};

struct BalanceChoice {
  BalanceKind kind = BalanceKind::kNone;
  double period = 5e-3;  ///< s, at least, between two looks at the loads
};

/// "none", "refine:period=20". Failure: what there is to choose from.
inline Result<BalanceChoice> parse_balance(std::string_view text) {
  constexpr std::string_view kPeriod = "period=";
  BalanceChoice chosen;
  const auto [row, argument] = choose(kBalances, text);
  bool fine = row != nullptr;
  if (fine && text != row->name) {
    fine = !row->argument.empty() && argument.substr(0, kPeriod.size()) == kPeriod;
    double milliseconds = 0;
    if (fine) {
      const char* const end = argument.data() + argument.size();
      const auto [stop, error] = std::from_chars(argument.data() + kPeriod.size(), end, milliseconds);
      fine = error == std::errc() && stop == end && milliseconds > 0 && milliseconds <= 1e6;
    }
    chosen.period = milliseconds * 1e-3;
  }
  if (!fine) {
    return Failure{"unknown load balance '" + std::string(text) + "': choose " +
                   list_choices(kBalances, ", ", " or ") + ", with a number of milliseconds greater than 0"};
  }
  chosen.kind = row->value;
  return chosen;
}

}  // namespace tmpi::sched
