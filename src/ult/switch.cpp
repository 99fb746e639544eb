#include "ult/switch.hpp"

#include <unistd.h>

#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>

#include "base/platform.hpp"
#include "ult/sanitizer.hpp"

// jump_x86_64.S: jump_fcontext with its return predicted.
extern "C" boost::context::detail::transfer_t tmpi_jump_fcontext(boost::context::detail::fcontext_t to,
                                                                 void* data);

namespace tmpi::ult {
namespace {

using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// The bottom of every fiber's stack: the entry function, and a mark for unwinders that nothing lies below.
struct FirstFrame {
  Entry entry;
};

// Everything but the jump: done before it, while both fibers' fields are in cache, so that nothing remains to
// be done behind it except to note where the left fiber stopped.
inline void exchange_state(Thread& thread, Fiber& from, Fiber& to) noexcept {
  if (from.has_thread_pointer || to.has_thread_pointer) [[unlikely]] {
    detail::exchange_with_pointers(thread, from, to);
  } else {
    detail::save_state(thread.state, from);
    detail::restore_state(thread.state, to);
  }
  thread.from = &from;
  thread.to = &to;
}

// First thing on the new side. The thread comes with the jump and not from a thread-local.
inline Thread& arrive(const transfer_t& transfer) noexcept {
  Thread& thread = *static_cast<Thread*>(transfer.data);
  thread.from->context = transfer.fctx;
  sanitizer::after_switch(*thread.to);
  return thread;
}

// As execve leaves it to a program: rounding to nearest, no exception noted, none trapped, denormals as they are.
inline void reset_floating_point() noexcept {
  __asm__ volatile("fninit");
  __builtin_ia32_ldmxcsr(0x1f80);
}

void fiber_main(transfer_t transfer) noexcept {
  // The caller of this frame is nobody: ends backtraces and exception searches here.
  __asm__ volatile(".cfi_undefined rip");
  Fiber& self = *arrive(transfer).to;
  // Boost.Context hands on what whoever prepared the fiber had: rounding, traps, flags of another rank.
  reset_floating_point();
  const std::byte* top = self.stack.base + self.stack.size;
  reinterpret_cast<const FirstFrame*>(top - sizeof(FirstFrame))->entry(self);
  __builtin_trap();  // an Entry does not return
}

}  // namespace

void attach(Thread& thread, Fiber& self) noexcept {
  static constinit std::atomic<std::uint64_t> attached{0};  // relaxed: only the counting must be atomic
  thread.state = FiberState::here();
  thread.from = nullptr;
  thread.to = &self;
  thread.thread_id = gettid();
  thread.number = attached.fetch_add(1, std::memory_order_relaxed) + 1;
  thread.own_pointer = reinterpret_cast<void*>(thread_pointer());
  sanitizer::attach(self);
}

void detach(Fiber& self) noexcept {
  sanitizer::detach(self);
}

void prepare(Fiber& fiber, Entry entry) noexcept {
  std::byte* top = fiber.stack.base + fiber.stack.size - sizeof(FirstFrame);
  reinterpret_cast<FirstFrame*>(top)->entry = entry;
  sanitizer::prepare(fiber);
  fiber.context = make_fcontext(top, fiber.stack.size - sizeof(FirstFrame), fiber_main);
}

void release(Fiber& fiber) noexcept {
  sanitizer::release(fiber);
}

Thread& switch_to(Thread& thread, Fiber& from, Fiber& to) noexcept {
  exchange_state(thread, from, to);
  sanitizer::before_switch(from, to, false);
  return arrive(tmpi_jump_fcontext(to.context, &thread));
}

void abandon_to(Thread& thread, Fiber& from, Fiber& to) noexcept {
  exchange_state(thread, from, to);
  sanitizer::before_switch(from, to, true);
  tmpi_jump_fcontext(to.context, &thread);
  __builtin_trap();  // nobody switches to an abandoned fiber
}

}  // namespace tmpi::ult
