// A suspended fiber's stack is followed from outside: all its frames, and nothing below its entry.
#include "ult/registers.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <vector>

#include "ult/switch.hpp"

namespace tmpi::ult {
namespace {

Thread* thread = nullptr;
Fiber outer, inner;

#if __has_cpp_attribute(gnu::noipa)
[[gnu::noipa]]
#else
[[gnu::noinline]]
#endif
int deep(int left) {
  if (left > 0) {
    volatile int below = deep(left - 1);
    return below + 1;
  }
  thread = &switch_to(*thread, inner, outer);
  return 0;
}

void entry(Fiber&) noexcept {
  volatile int depth = deep(5);
  static_cast<void>(depth);
  abandon_to(*thread, inner, outer);
}

_Unwind_Reason_Code note(_Unwind_Context* context, void* argument) {
  static_cast<std::vector<std::uintptr_t>*>(argument)->push_back(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

TEST_CASE("a suspended fiber's frames") {
  Thread here;
  thread = &here;
  attach(here, outer);
  constexpr std::size_t kSize = 1 << 20;
  inner.stack = {static_cast<std::byte*>(
                     mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
                 kSize};
  prepare(inner, &entry);
  CHECK(saved_registers(inner).instruction() == 0);  // it has not run
  thread = &switch_to(*thread, outer, inner);

  const Registers registers = saved_registers(inner);
  REQUIRE(registers.instruction() != 0);
  CHECK(registers.stack_pointer() > reinterpret_cast<std::uintptr_t>(inner.stack.base));
  CHECK(registers.stack_pointer() < reinterpret_cast<std::uintptr_t>(inner.stack.base + kSize));
  std::vector<std::uintptr_t> frames;
  unwind_from(registers, &note, &frames);
  int in_deep = 0;
  for (const std::uintptr_t frame : frames) {
    const void* function = _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(frame - 1));
    if (function == reinterpret_cast<const void*>(&deep)) ++in_deep;
  }
  CHECK(frames.front() == registers.instruction());
  CHECK(in_deep == 6);
  CHECK(frames.size() <= 12);  // nothing of whoever has switched to it

  thread = &switch_to(*thread, outer, inner);
  release(inner);
  munmap(inner.stack.base, kSize);
  detach(outer);
}

}  // namespace
}  // namespace tmpi::ult
