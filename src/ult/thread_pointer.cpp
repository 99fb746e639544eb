#include "ult/thread_pointer.hpp"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "base/of_thread.hpp"
#include "ult/switch.hpp"

namespace tmpi::ult {
namespace {

constexpr unsigned long kFsGsBase = 2;  // of AT_HWCAP2: HWCAP2_FSGSBASE

// Where a fiber's errno and exceptions are while it runs.
const FiberState& state_of(const Thread& thread, const Fiber& fiber) noexcept {
  return fiber.has_thread_pointer && thread.takes_pointers ? fiber.thread_pointer->state : thread.state;
}

// What the block says of the OS thread.
void tell_of(const Thread& thread, ThreadPointer& next) noexcept {
  auto* const own = static_cast<std::byte*>(thread.own_pointer);
  auto* const other = static_cast<std::byte*>(next.pointer);
  *next.thread_id = thread.thread_id;
  *next.to_own = own - other;
  for (std::size_t i = 0; i < copied_for_pointers.count; ++i) {
    const std::ptrdiff_t at = copied_for_pointers.places[i];
    std::memcpy(other + at, own + at, sizeof(void*));
  }
  next.right_for = thread.number;
}

}  // namespace

bool detail::has_instruction = (getauxval(AT_HWCAP2) & kFsGsBase) != 0;

void set_thread_pointer(void* pointer) noexcept {
  if (detail::has_instruction) [[likely]] {
    __asm__ volatile("wrfsbase %0" : : "r"(pointer) : "memory");
  } else {
    // Not by libc's syscall(), which would set errno, of one or the other.
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(pointer)
                     : "rcx", "r11", "memory");
  }
}

void detail::exchange_thread_pointer(Thread& thread, const Fiber& to) noexcept {
  if (!thread.takes_pointers) return;
  if (!to.has_thread_pointer) {
    if (thread.in_force == nullptr) return;
    set_thread_pointer(thread.own_pointer);
    thread.in_force = nullptr;
    return;
  }
  ThreadPointer& next = *to.thread_pointer;
  if (thread.in_force == &next) return;                        // done before the hooks of this switch
  if (next.right_for != thread.number) tell_of(thread, next);  // before: a signal may come at any time
  set_thread_pointer(next.pointer);
  thread.in_force = &next;
}

void detail::exchange_with_pointers(Thread& thread, Fiber& from, const Fiber& to) noexcept {
  save_state(state_of(thread, from), from);
  restore_state(state_of(thread, to), to);
  take_thread_pointer(thread, to);
}

}  // namespace tmpi::ult
