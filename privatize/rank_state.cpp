#include "privatize/rank_state.hpp"

#include <atomic>
#include <mutex>
#include <new>

#include "privatize/loader.hpp"
#include "privatize/pthread_keys.hpp"
#include "privatize/rank_table.hpp"

namespace tmpi::privatize {
namespace {

RankTable<std::atomic<RankState*>, 1024> states;

}  // namespace

OpenedLibraries::~OpenedLibraries() {
  for (OpenedLibrary* library = last(); library != nullptr;) {
    OpenedLibrary* previous = library->previous;
    delete library;
    library = previous;
  }
}

OpenedLibrary* OpenedLibraries::add(std::unique_ptr<OpenedLibrary> library) noexcept {
  OpenedLibrary* added = library.release();
  added->previous = last_.load(std::memory_order_relaxed);
  std::atomic<OpenedLibrary*>& place = added->previous != nullptr ? added->previous->next : first_;
  place.store(added, std::memory_order_release);
  last_.store(added, std::memory_order_release);
  return added;
}

RankState* rank_state(int rank) noexcept {
  const std::atomic<RankState*>* slot = states.find(rank);
  // acquire pairs with the release in create_rank_state().
  return slot != nullptr ? slot->load(std::memory_order_acquire) : nullptr;
}

RankState* create_rank_state(int rank, ImageSet& set, int index) noexcept {
  std::atomic<RankState*>* slot = states.get(rank);
  auto* state = slot != nullptr ? new (std::nothrow) RankState : nullptr;
  if (state == nullptr) return nullptr;
  state->rank = rank;
  state->set = &set;
  state->index = index;
  slot->store(state, std::memory_order_release);
  return state;
}

void destroy_rank_state(int rank) noexcept {
  RankState* state = rank_state(rank);
  if (state == nullptr) return;
  states.find(rank)->store(nullptr, std::memory_order_release);
  delete_key_values(state->key_values);
  delete_link_maps(state->link_maps);
  delete_limits(state->limits.load(std::memory_order_acquire));
  delete state;
}

void tell_stack(int rank, void* stack, std::size_t bytes) noexcept {
  RankState* const state = rank_state(rank);
  if (state == nullptr) return;
  state->stack = stack;
  state->stack_bytes = bytes;
}

}  // namespace tmpi::privatize
