// Registers: where a flow of control stands that does not run: a suspended fiber, or a thread that has been stopped; and
// backtraces from there.
#pragma once

#include <sys/user.h>
#include <unwind.h>

#include <array>
#include <cstdint>

#include "ult/fiber.hpp"

namespace tmpi::ult {

/// In the order of the processor's ABI for unwinders: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, and the
/// instruction.
struct Registers {
  std::array<std::uint64_t, 17> values{};

  std::uint64_t stack_pointer() const noexcept { return values[7]; }
  std::uint64_t instruction() const noexcept { return values[16]; }
};

/// Of a fiber that has run and is suspended now, as long as it is; instruction() is 0 if it has been left in no way that
/// is known. Any thread.
Registers saved_registers(const Fiber& fiber) noexcept;

/// Of a thread that a tracer has stopped.
Registers registers_of(const user_regs_struct& stopped) noexcept;

/// Calls `function` for each frame from there on, the innermost first, as _Unwind_Backtrace does. Nobody may use that stack
/// meanwhile. Allocates nothing and takes no lock.
void unwind_from(const Registers& registers, _Unwind_Trace_Fn function, void* argument) noexcept;

}  // namespace tmpi::ult
