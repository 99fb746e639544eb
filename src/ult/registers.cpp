#include "ult/registers.hpp"

#include <cstring>

#include "base/debugger_fact.hpp"

extern "C" const char tmpi_jump_fcontext_back[];
extern "C" _Unwind_Reason_Code tmpi_unwind_from(const tmpi::ult::Registers* registers,
                                                _Unwind_Trace_Fn function, void* argument);

// Boost.Context leaves on the fiber's stack, from fcontext_t upwards: floating-point control, from 1.78 on a word for
// stack protectors, and these, by the numbers of the processor's ABI for unwinders: r12 to r15, rbx, rbp, and where it goes on,
// which is always the same place of ours. Debuggers read it, too.
constexpr int kSaved = 7, kInstruction = 16;
TMPI_FOR_DEBUGGERS constexpr unsigned char tmpi_saved_registers[kSaved] = {12, 13, 14,          15,
                                                                           3,  6,  kInstruction};
TMPI_FOR_DEBUGGERS const char* const tmpi_saved_instruction = tmpi_jump_fcontext_back;

namespace tmpi::ult {

Registers saved_registers(const Fiber& fiber) noexcept {
  Registers registers;
  if (fiber.context == nullptr) return registers;
  std::uint64_t words[2 + kSaved];
  std::memcpy(words, fiber.context, sizeof words);
  const auto back = reinterpret_cast<std::uintptr_t>(tmpi_jump_fcontext_back);
  for (const int first : {1, 2}) {
    if (words[first + kSaved - 1] != back) continue;
    for (int i = 0; i < kSaved; ++i) registers.values[tmpi_saved_registers[i]] = words[first + i];
    registers.values[7] = reinterpret_cast<std::uintptr_t>(fiber.context) +
                          static_cast<std::uintptr_t>(first + kSaved) * sizeof words[0];
    break;
  }
  return registers;
}

Registers registers_of(const user_regs_struct& stopped) noexcept {
  return {{stopped.rax, stopped.rdx, stopped.rcx, stopped.rbx, stopped.rsi, stopped.rdi, stopped.rbp,
           stopped.rsp, stopped.r8, stopped.r9, stopped.r10, stopped.r11, stopped.r12, stopped.r13,
           stopped.r14, stopped.r15, stopped.rip}};
}

namespace {

struct Trace {
  _Unwind_Trace_Fn function;
  void* argument;
  bool begun = false;
};

// The first frame is tmpi_unwind_from's own.
_Unwind_Reason_Code hand_on(_Unwind_Context* context, void* argument) {
  Trace& trace = *static_cast<Trace*>(argument);
  if (!trace.begun) {
    trace.begun = true;
    return _URC_NO_REASON;
  }
  return trace.function(context, trace.argument);
}

}  // namespace

void unwind_from(const Registers& registers, _Unwind_Trace_Fn function, void* argument) noexcept {
  Trace trace{function, argument};
  tmpi_unwind_from(&registers, &hand_on, &trace);
}

}  // namespace tmpi::ult
