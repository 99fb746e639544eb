#include "sched/machine/prompt.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tmpi::sched {
namespace {

// Of kernel 5.3; later versions are longer.
struct SchedulingAttributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
  std::uint32_t clamp_least, clamp_most;
};

}  // namespace

void ask_to_be_prompt() noexcept {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  SchedulingAttributes attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  attributes.size = sizeof attributes;
  attributes.runtime = 100'000;  // ns, the least that the kernel takes
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  setpriority(PRIO_PROCESS, 0, -20);  // of this thread, in Linux
}

void give_way() noexcept {
  const sched_param none{};
  sched_setscheduler(0, SCHED_IDLE, &none);
}

}  // namespace tmpi::sched
