#include "privatize/x87_flags.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "privatize/rank_table.hpp"
#include "privatize/switch_duties.hpp"
#include "privatize/symbol_table.hpp"

namespace tmpi::privatize {
namespace {

constexpr std::uint16_t kFlags = 0x3f;  // invalid, denormal, division by zero, overflow, underflow, inexact

constexpr std::string_view kHandlers[] = {"fetestexcept",
                                          "feclearexcept",
                                          "feraiseexcept",
                                          "fesetexcept",
                                          "fegetexceptflag",
                                          "fesetexceptflag",
                                          "fegetenv",
                                          "fesetenv",
                                          "feholdexcept",
                                          "feupdateenv",
                                          "__ieee_exceptions_MOD_ieee_get_flag",
                                          "__ieee_exceptions_MOD_ieee_set_flag",
                                          "__ieee_exceptions_MOD_ieee_get_status",
                                          "__ieee_exceptions_MOD_ieee_set_status"};

/// As FNSTENV stores it.
struct X87Environment {
  std::uint16_t control, gap0, status, gap1, tags, gap2;
  std::uint32_t last_instruction[4];
};

RankTable<std::uint16_t> kept;  // by worker threads, each for the ranks that it runs

std::uint16_t flags() noexcept {
  std::uint16_t status = 0;
  __asm__ volatile("fnstsw %0" : "=a"(status));
  return status & kFlags;
}

void set_flags(std::uint16_t wanted) noexcept {
  if (wanted == 0) {
    __asm__ volatile("fnclex");
    return;
  }
  X87Environment environment;
  __asm__ volatile("fnstenv %0" : "=m"(environment));
  environment.status = static_cast<std::uint16_t>((environment.status & ~kFlags) | wanted);
  __asm__ volatile("fldenv %0" : : "m"(environment));
}

}  // namespace

void watch_x87_flags(const SymbolTable& symbols) noexcept {
  for (std::uint32_t i = 1; i < symbols.count(); ++i) {
    const Elf64_Sym& entry = symbols.symbol(i);
    if (entry.st_shndx != SHN_UNDEF ||
        std::ranges::find(kHandlers, symbols.name(entry)) == std::end(kHandlers))
      continue;
    demand(kSwitchX87Flags);
    return;
  }
}

void switch_x87_flags(int from, int to) noexcept {
  const std::uint16_t now = flags();
  if (std::uint16_t* const own = from >= 0 ? kept.get(from) : nullptr) *own = now;
  if (to < 0) return;
  const std::uint16_t* const own = kept.find(to);
  const std::uint16_t wanted = own == nullptr ? 0 : *own;
  if (wanted != now) set_flags(wanted);
}

}  // namespace tmpi::privatize
