#include "privatize/rank_state.hpp"

#include <sys/mman.h>

#include <atomic>
#include <mutex>

#include "privatize/pthread_keys.hpp"

namespace tmpi::privatize {
namespace {

constexpr int kMaxRank = 1 << 24;  // world ranks; the table's pages are touched only where ranks are

using Slot = std::atomic<RankState*>;

Slot* make_table() {
  void* memory = mmap(nullptr, sizeof(Slot) * kMaxRank, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Slot*>(memory);
}

std::atomic<Slot*> the_table{nullptr};

Slot* table() {
  static Slot* const made = [] {
    Slot* slots = make_table();
    // release pairs with the acquire in rank_state().
    the_table.store(slots, std::memory_order_release);
    return slots;
  }();
  return made;
}

}  // namespace

std::vector<OpenedLibrary*> RankState::opened_now() const {
  const std::lock_guard guard(lock);
  std::vector<OpenedLibrary*> copy;
  for (const auto& library : opened) copy.push_back(library.get());
  return copy;
}

RankState* rank_state(int rank) noexcept {
  Slot* slots = the_table.load(std::memory_order_acquire);
  if (slots == nullptr || rank < 0 || rank >= kMaxRank) return nullptr;
  return slots[rank].load(std::memory_order_acquire);
}

RankState& create_rank_state(int rank, ImageSet& set, int index) {
  auto* state = new RankState;
  state->rank = rank;
  state->set = &set;
  state->index = index;
  if (Slot* slots = table(); slots != nullptr && rank >= 0 && rank < kMaxRank) {
    slots[rank].store(state, std::memory_order_release);
  }
  return *state;
}

void destroy_rank_state(int rank) noexcept {
  RankState* state = rank_state(rank);
  if (state == nullptr) return;
  table()[rank].store(nullptr, std::memory_order_release);
  delete_key_values(state->key_values);
  delete state;
}

}  // namespace tmpi::privatize
