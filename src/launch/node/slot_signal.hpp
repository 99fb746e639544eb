// The signal by which a rank is interrupted that runs on and on (slot_watch.hpp): to see where it is, or to take the core
// away from it. Its handler runs on the rank's own stack.
#pragma once

#include <cstdint>
#include <optional>

namespace tmpi::launch {

/// Before slot signals are sent. False: the kernel refuses.
bool install_slot_handler() noexcept;

/// What a thread was at.
struct SlotSample {
  static constexpr int kRegisters = 16;
  static constexpr int kVectorBytes = 256;

  int rank = -1;            ///< -1: it ran none
  bool in_library = false;  ///< a call of MPI
  std::uint64_t instruction = 0;
  std::uint64_t registers[kRegisters] = {};  ///< the processor's general ones
  unsigned char vectors[kVectorBytes] = {};  ///< and those of vectors, the lower 16 bytes of each
};

/// Interrupts the thread (the kernel's number) and says what it is at; nothing if it does not answer soon. One at a time.
std::optional<SlotSample> sample_thread(int thread) noexcept;

/// Has the rank that runs on the thread let others run, if it is in its own code and holds no lock of the runtime's or
/// libc's; else nothing happens. Returns at once.
void preempt_thread(int thread) noexcept;

}  // namespace tmpi::launch
