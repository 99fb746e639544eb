#include "sched/assist.hpp"

#include <sched.h>

#include "sched/door/system.hpp"

namespace tmpi::sched {
namespace {

// A piece takes microseconds; one that takes longer has an assistant whose core does something else.
constexpr int kSpins = 2000;

}  // namespace

constinit Assist AssistPoint::looking_mark_{nullptr};

void AssistPoint::conclude(Assist& work) noexcept {
  Assist* offered = &work;
  if (offered_.compare_exchange_strong(offered, &looking_mark_, std::memory_order_relaxed)) return;
  // Pairs with assist(): what the assistant has done is seen.
  for (int spins = 0; !work.left_.load(std::memory_order_acquire); ++spins) {
    if (spins < kSpins) {
      System::relax();
    } else {
      sched_yield();
    }
  }
}

}  // namespace tmpi::sched
