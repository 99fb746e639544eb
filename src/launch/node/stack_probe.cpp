#include "launch/node/stack_probe.hpp"

#include "base/platform.hpp"

namespace tmpi::launch {
namespace {

// As instructions number them.
constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/// The register that "cmp REGISTER, %rsp" at `code` compares the stack pointer with; -1: there is no such instruction.
int compared_with_stack_pointer(const unsigned char* code) noexcept {
  constexpr unsigned char kWide = 0x48, kHighRegister = 0x04;  // the prefix's bits
  constexpr unsigned char kCompare = 0x39, kWithStackPointer = 0xc4;
  if ((code[0] & ~kHighRegister) != kWide || code[1] != kCompare || (code[2] & 0xc7) != kWithStackPointer)
    return -1;
  return kRegisters[(code[2] >> 3 & 7) + ((code[0] & kHighRegister) != 0 ? 8 : 0)];
}

}  // namespace

// gcc and clang: "sub $SIZE, %rsp", a write to the new page, which has failed, and behind it the comparison that ends the
// loop, or a short jump back to it.
std::uintptr_t end_of_probed_frame(const ucontext_t& context) noexcept {
  constexpr int kLongestWrite = 12;
  constexpr unsigned char kShortJump = 0xeb;
  const auto* code = reinterpret_cast<const unsigned char*>(instruction_pointer(context));
  for (const unsigned char* at = code; at <= code + kLongestWrite; ++at) {
    int number = compared_with_stack_pointer(at);
    if (number < 0 && at[0] == kShortJump)
      number = compared_with_stack_pointer(at + 2 + static_cast<signed char>(at[1]));
    if (number >= 0) return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[number]);
  }
  return 0;
}

}  // namespace tmpi::launch
