#include "mpi/rank/rank.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "mpi/base/attributes.hpp"
#include "mpi/base/error.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/info.hpp"
#include "mpi/base/user_errors.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/endings.hpp"
#include "mpi/rank/forked.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

Callbacks the_callbacks{};

// Errors of a rank's own flow of control are explained there; those of its threads, with the thread.
std::string* explanation_of_flow() noexcept {
  sched::Task* task = sched::current();
  return task != nullptr && task->kind != sched::TaskKind::kThread
             ? &static_cast<Rank*>(task->owner)->explanation
             : nullptr;
}

}  // namespace

Rank::Rank() = default;
Rank::~Rank() = default;

Job& Job::create(Placement placement) {
  static Job& created =
      *new Job;  // never destroyed: ranks may still be in the library when the process exits
  const int node = placement.node();
  created.placement_ = std::move(placement);
  const int size = created.placement_.size();
  std::vector<int> node_of(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    node_of[static_cast<std::size_t>(rank)] = created.placement_.node_of(rank);
  created.places_ = static_cast<std::size_t>(size) + Placement::kMostAdded;
  // Zeros that the system gives: most of it is never touched.
  void* const places = std::calloc(created.places_, sizeof(std::atomic<Rank*>));
  if (places == nullptr) throw std::bad_alloc();
  created.by_world_rank_ =
      Places(static_cast<std::atomic<Rank*>*>(places), [](void* memory) noexcept { std::free(memory); });
  created.worlds_.clear();
  created.made_.clear();
  created.local_.clear();
  created.local_count_ = 0;
  created.end_ = 0;
  created.most_local_ = static_cast<int>(std::ranges::count(node_of, node)) + sched::Scheduler::kMostAdded;
  created.local_.resize(static_cast<std::size_t>(created.most_local_));
  auto world = std::make_unique<World>();
  world->size = size;
  created.publish(created.add_world(std::move(world), node_of).second);
  char name[256] = "localhost";
  (void)gethostname(name, sizeof name - 1);
  created.host_ = name;
  detail::g_job = &created;
  detail::g_placement = &created.placement_;
  detail::g_explanation = explanation_of_flow;
  register_endings();
  watch_for_forks();
  return created;
}

std::pair<World*, std::vector<Rank*>> Job::add_world(std::unique_ptr<World> added,
                                                     const std::vector<int>& node_of) {
  World& world = *worlds_.emplace_back(std::move(added));
  const auto here = static_cast<std::size_t>(std::ranges::count(node_of, placement_.node()));
  std::vector<Rank>& ranks = made_.emplace_back(here);
  std::vector<Rank*> mine;
  for (int i = 0; i < world.size; ++i) {
    if (node_of[static_cast<std::size_t>(i)] != placement_.node()) continue;
    Rank& rank = ranks[mine.size()];
    rank.world_rank = world.first + i;
    rank.started_with = &world;
    mine.push_back(&rank);
  }
  if (world.first > 0) placement_.add(world.first, node_of);
  // Worlds may be added in another order than they are numbered.
  end_.store(std::max(end_.load(std::memory_order_relaxed), world.first + world.size),
             std::memory_order_release);
  return {&world, std::move(mine)};
}

void Job::publish(const std::vector<Rank*>& ranks) {
  int count = local_count_.load(std::memory_order_relaxed);
  for (Rank* const rank : ranks) {
    rank->local_index = count;
    local_[static_cast<std::size_t>(count++)] = rank;
    by_world_rank_[static_cast<std::size_t>(rank->world_rank)].store(rank, std::memory_order_release);
  }
  local_count_.store(count, std::memory_order_release);
}

Job* detail::g_job = nullptr;

void register_callbacks(const Callbacks& callbacks) {
  the_callbacks = callbacks;
}
const Callbacks& callbacks() noexcept {
  return the_callbacks;
}

}  // namespace tmpi::mpi
