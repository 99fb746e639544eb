#include "mpi/diagnose/deadlock.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "mpi/core/blocked.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/diagnose/place.hpp"
#include "mpi/p2p/request.hpp"

namespace tmpi::mpi {
namespace {

constexpr int kMostExamples = 3;  // of each kind of remark
constexpr std::size_t kMostInCycle = 10;

bool finished(const Rank& rank) noexcept {
  return rank.task->state.load(std::memory_order_relaxed) == sched::TaskState::kFinished;
}

template <class Function>
void for_each_rank(Function&& fn) {
  for (int i = 0; i < job()->size(); ++i) {
    if (Rank* rank = job()->local(i)) fn(*rank);
  }
}

template <class Function>
void for_each_pending(const Blocked& blocked, Function&& fn) {
  for (int i = 0; i < blocked.size; ++i) {
    const Request* request = blocked.array[i];
    if (request != nullptr && !request->done()) fn(*request);
  }
}

// Completed by the program itself, perhaps from a signal handler: nobody can tell whether it will be.
bool waits_for_the_program(const Blocked& blocked) {
  bool found = false;
  if (blocked.array == nullptr) return false;
  for_each_pending(blocked, [&](const Request& request) {
    found |= request.kind == RequestKind::kExtended && request.comm == nullptr;
  });
  return found;
}

bool blocked_in_mpi(const Rank& rank) {
  if (rank.task->monitored) return false;  // a thread of its worker's ranks might act
  if (rank.task->state.load(std::memory_order_relaxed) != sched::TaskState::kBlocked) return false;
  return blocked_on(*rank.task).kind != WaitKind::kNothing;
}

// World ranks that a blocked rank waits for: all of them must act. What can be satisfied in several ways adds
// none.
class Needs {
 public:
  explicit Needs(const Rank& rank) {
    const Blocked blocked = blocked_on(*rank.task);
    switch (blocked.kind) {
      case WaitKind::kSend:
      case WaitKind::kReceive:
      case WaitKind::kProbe:
        add(*blocked.comm, blocked.peer);
        break;
      case WaitKind::kAll:
        for_each_pending(blocked, [&](const Request& request) { add(request); });
        break;
      case WaitKind::kAny:
        for_each_pending(blocked, [&](const Request& request) { add(request); });
        if (ranks_.size() > 1) ranks_.clear();
        break;
      case WaitKind::kCollective:
        add_absent(*blocked.comm, blocked.context);
        break;
      default:
        break;
    }
  }
  std::vector<int> take() && { return std::move(ranks_); }

 private:
  void add(const Comm& comm, int peer) {
    if (peer >= 0 && peer < comm.peers) ranks_.push_back(comm.shared->peers->world_rank(peer));
  }
  void add(const Request& request) {
    if (request.kind != RequestKind::kExtended && request.comm != nullptr) add(*request.comm, request.peer);
  }
  // Members that take no part in a collective of this communicator now.
  void add_absent(const Comm& comm, ContextId context) {
    for (const Group* group : {comm.shared->group.get(), comm.shared->peers.get()}) {
      for (int i = 0; i < group->size(); ++i) {
        const Rank* member = job()->local(group->world_rank(i));
        if (member == nullptr || (!finished(*member) && in_collective(*member, context))) continue;
        ranks_.push_back(member->world_rank);
      }
      if (comm.shared->peers == comm.shared->group) break;
    }
  }
  static bool in_collective(const Rank& rank, ContextId context) {
    return rank.task->note[detail::kCollectiveComm].load(std::memory_order_relaxed) != 0 &&
           rank.task->note[detail::kCollectiveContext].load(std::memory_order_relaxed) == context;
  }

  std::vector<int> ranks_;
};

std::vector<std::vector<int>> wait_graph() {
  std::vector<std::vector<int>> graph(static_cast<std::size_t>(job()->size()));
  for_each_rank([&](const Rank& rank) {
    if (!finished(rank)) graph[static_cast<std::size_t>(rank.world_rank)] = Needs(rank).take();
  });
  return graph;
}

std::string cycle_line(const std::vector<int>& cycle) {
  if (cycle.empty()) return {};
  if (cycle.size() == 1) return fmt::format("  rank {} waits for itself\n", cycle[0]);
  std::string text = fmt::format("  a cycle of {}: rank {}", cycle.size(), cycle[0]);
  for (std::size_t i = 1; i < std::min(cycle.size(), kMostInCycle); ++i)
    text += fmt::format(" waits for rank {}{}", cycle[i],
                        i + 1 < std::min(cycle.size(), kMostInCycle) ? ", which" : "");
  if (cycle.size() > kMostInCycle) text += ", and so on";
  return text + fmt::format(", which waits for rank {}\n", cycle[0]);
}

std::string finished_lines(const std::vector<std::vector<int>>& graph) {
  std::string text;
  int examples = 0;
  for (std::size_t rank = 0; rank < graph.size() && examples < kMostExamples; ++rank) {
    for (int other : graph[rank]) {
      const Rank* member = job()->local(other);
      if (member == nullptr || !finished(*member)) continue;
      text += fmt::format("  rank {} waits for rank {}, which has ended\n", rank, other);
      if (++examples == kMostExamples) break;
    }
  }
  return text;
}

std::string key_text(int source, int tag) {
  return fmt::format("{} with {}", source == MPI_ANY_SOURCE ? "any rank" : fmt::format("rank {}", source),
                     tag == MPI_ANY_TAG ? "any tag" : fmt::format("tag {}", tag));
}

// A message that came for somebody who waits for another one of the same communicator: mostly a wrong tag or
// source.
std::string unreceived_lines() {
  std::string text;
  int examples = 0;
  for_each_rank([&](Rank& rank) {
    if (examples == kMostExamples || finished(rank)) return;
    const Blocked blocked = blocked_on(*rank.task);
    if (blocked.kind != WaitKind::kReceive && blocked.kind != WaitKind::kProbe) return;
    const MatcherLock lock(rank.matcher);
    for (const Message* message = rank.matcher.first_unexpected(); message != nullptr;
         message = message->next) {
      if (message->key.context != blocked.context) continue;
      text +=
          fmt::format("  rank {} waits for a message from {}, but one from {} has come and is not received\n",
                      rank.world_rank, key_text(blocked.peer, blocked.tag),
                      key_text(message->key.source, message->key.tag));
      ++examples;
      return;
    }
  });
  return text;
}

}  // namespace

bool deadlocked() {
  if (job() == nullptr || job()->local_count() != job()->size()) return false;
  bool all = true, any = false;
  for_each_rank([&](const Rank& rank) {
    if (rank.task == nullptr) {
      all = false;
    } else if (!finished(rank)) {
      any = true;
      all = all && blocked_in_mpi(rank);
    }
  });
  if (!all || !any) return false;
  // Only now is it sure that nobody can run, and arrays of requests may be looked into.
  bool program = false;
  for_each_rank([&](const Rank& rank) {
    program = program || (!finished(rank) && waits_for_the_program(blocked_on(*rank.task)));
  });
  return !program;
}

std::string explain_deadlock() {
  const std::vector<std::vector<int>> graph = wait_graph();
  return cycle_line(find_cycle(graph)) + finished_lines(graph) + unreceived_lines();
}

}  // namespace tmpi::mpi
