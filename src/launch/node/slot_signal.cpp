#include "launch/node/slot_signal.hpp"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "base/own_signals.hpp"
#include "base/platform.hpp"
#include "privatize/loader.hpp"
#include "privatize/own_code.hpp"
#include "privatize/rank_signals.hpp"
#include "sched/move.hpp"
#include "sched/thread_task.hpp"

namespace tmpi::launch {
namespace {

// A real-time signal, as the loader's, because programs use the ordinary ones.
int slot_signal() noexcept {
  return number_of(OwnSignal::kSlot);
}

enum : int { kSample = 1, kPreempt = 2 };  // what the signal asks for

enum class Asked : int { kNothing, kWanted, kBeingWritten, kThere };
std::atomic<Asked> asked{Asked::kNothing};  // acquire, release: guards the sample
SlotSample the_sample;

bool send(int thread, int what) noexcept {
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_int = what;
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, slot_signal(), &info) == 0;
}

void answer(const ucontext_t& context) noexcept {
  Asked wanted = Asked::kWanted;
  if (!asked.compare_exchange_strong(wanted, Asked::kBeingWritten, std::memory_order_acq_rel)) return;
  const sched::Task* const task = sched::current();
  the_sample = {};
  the_sample.rank = task == nullptr ? -1 : privatize::running_rank();
  the_sample.in_library = task != nullptr && task->inside;
  the_sample.instruction = instruction_pointer(context);
  // Up to the stack pointer, which is one of them.
  for (int i = 0; i < SlotSample::kRegisters; ++i)
    the_sample.registers[i] = static_cast<std::uint64_t>(context.uc_mcontext.gregs[i]);
  if (context.uc_mcontext.fpregs != nullptr)
    memcpy(the_sample.vectors, context.uc_mcontext.fpregs->_xmm, SlotSample::kVectorBytes);
  asked.store(Asked::kThere, std::memory_order_release);
}

bool lies_on_stack(const sched::Task& task, const ucontext_t& context) noexcept {
  const auto base = reinterpret_cast<std::uintptr_t>(task.stack.base);
  const std::uintptr_t top = stack_pointer(context);
  return base != 0 && top >= base && top < base + task.stack.size;
}

// The rank's state is in the kernel's frame on its stack: what the compiler has in registers, and the vectors. Its thread's
// signal mask stays as it is, since the handler blocks nothing. It does not move to another worker before it has gone on:
// its code may have the address of a thread's variable at hand.
void give_turn(const ucontext_t& context) noexcept {
  sched::Task* const task = sched::current();
  if (task == nullptr || task->kind != sched::TaskKind::kRank || task->inside ||
      !lies_on_stack(*task, context))
    return;
  const int rank = privatize::running_rank();
  if (rank < 0 || privatize::in_forked_child() || privatize::in_signal_handler(rank) ||
      privatize::signals_deferred(rank) || !privatize::is_in_own_code(&context))
    return;
  {
    const privatize::DeferredSignals deferred(rank);
    sched::anchor(*task);
    {
      const sched::Inside inside(task);
      sched::yield();
    }
    sched::unanchor(*task);
  }
  privatize::deliver_signals(rank);
}

void on_slot_signal(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_QUEUE || info->si_pid != getpid()) return;
  const int error = errno;
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  if (info->si_value.sival_int == kSample) answer(interrupted);
  if (info->si_value.sival_int == kPreempt) give_turn(interrupted);
  errno = error;
}

}  // namespace

bool install_slot_handler() noexcept {
  struct sigaction action {};
  action.sa_sigaction = &on_slot_signal;
  // On the rank's stack, where it stays while others run; they must be interruptible, too.
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  return sigaction(slot_signal(), &action, nullptr) == 0;
}

std::optional<SlotSample> sample_thread(int thread) noexcept {
  asked.store(Asked::kWanted, std::memory_order_release);
  if (!send(thread, kSample)) return std::nullopt;
  constexpr timespec kMoment{0, 200'000};
  for (int i = 0; i < 100; ++i) {
    nanosleep(&kMoment, nullptr);
    if (asked.load(std::memory_order_acquire) == Asked::kThere) return the_sample;
  }
  Asked wanted = Asked::kWanted;
  if (asked.compare_exchange_strong(wanted, Asked::kNothing, std::memory_order_acq_rel)) return std::nullopt;
  while (asked.load(std::memory_order_acquire) != Asked::kThere) nanosleep(&kMoment, nullptr);
  return the_sample;
}

void preempt_thread(int thread) noexcept {
  send(thread, kPreempt);
}

}  // namespace tmpi::launch
