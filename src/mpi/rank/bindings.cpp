#include "mpi/rank/bindings.hpp"

#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"

namespace tmpi::mpi {
namespace {

// What a function with a frame pointer has where it points.
struct Frame {
  const Frame* caller;
  std::uintptr_t returns_to;
};

constexpr int kMostFrames = 8;  // of the bindings, one above the other: more are none

}  // namespace

Caller caller_of(const Rank& rank, const void* frame) noexcept {
  const Bindings& bindings = rank.bindings;
  const auto* at = static_cast<const Frame*>(frame);
  std::uintptr_t address = at->returns_to;
  const bool own = bindings.own(address);
  for (int i = 0; i < kMostFrames && bindings.contain(address); ++i) {
    at = at->caller;
    address = at->returns_to;
  }
  return {reinterpret_cast<const void*>(address), own};
}

}  // namespace tmpi::mpi

// A library of bindings says where it is, from a constructor of each rank's copy.
extern "C" [[gnu::visibility("default")]] void tmpi_bindings_at(const void* begin, const void* end,
                                                                const void* own_begin, const void* own_end) {
  tmpi::mpi::Rank* rank = tmpi::mpi::calling_rank();
  if (rank == nullptr) return;
  const auto number = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address); };
  rank->bindings = {number(begin), number(end), number(own_begin), number(own_end)};
}
