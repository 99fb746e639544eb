#include "mpi/diagnose/deadlock.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/bias.hpp"
#include "mpi/diagnose/place.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/rank/advice.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/request/request.hpp"
#include "mpi/request/socket_ends.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

constexpr int kMostExamples = 3;  // of each kind of remark
constexpr std::size_t kMostInCycle = 10;

bool finished(const Rank& rank) noexcept {
  return rank.task->state.load(std::memory_order_relaxed) == sched::TaskState::kFinished;
}

template <class Function>
void for_each_rank(Function&& fn) {
  for (int i = 0; i < job()->local_count(); ++i) fn(job()->local_at(i));
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

// Threads of the rank might act. That its worker's monitor counts says less: where there is a progress thread, an attendant
// (sched/attendant.hpp) makes it count, too, which runs nothing while the worker's own thread sleeps.
bool threads_may_call(const Rank& rank) {
  return rank.has_threads.load(std::memory_order_relaxed) &&
         (rank.thread_level >= MPI_THREAD_SERIALIZED || rank.tools_in_threads);
}

bool blocked_in_mpi(const Rank& rank) {
  if (threads_may_call(rank)) return false;
  if (rank.task->state.load(std::memory_order_relaxed) != sched::TaskState::kBlocked) return false;
  const WaitKind kind = blocked_on(*rank.task).kind;
  return kind != WaitKind::kNothing && kind != WaitKind::kSocket && kind != WaitKind::kOutside;
}

bool with_other_job(const Comm* comm) {
  return comm != nullptr && comm->shared != nullptr && comm->shared->other_job != nullptr &&
         !comm->shared->other_job->ended;
}

// What another job does nobody here can tell.
bool waits_for_other_job(const Rank& rank) {
  if (with_other_job(reinterpret_cast<const Comm*>(
          rank.task->note[detail::kCollectiveComm].load(std::memory_order_relaxed))))
    return true;
  const Blocked blocked = blocked_on(*rank.task);
  switch (blocked.kind) {
    case WaitKind::kSend:
    case WaitKind::kReceive:
    case WaitKind::kProbe:
    case WaitKind::kCollective:
      return with_other_job(blocked.comm);
    case WaitKind::kAll:
    case WaitKind::kAny: {
      bool found = false;
      for_each_pending(blocked, [&](const Request& request) { found |= with_other_job(request.comm); });
      return found;
    }
    case WaitKind::kStarted:  // on which communicators nobody here knows
      return other_jobs().any_connected();
    default:
      return false;
  }
}

// The end of a socket was here when the rank began to wait; since then it may have gone to another process.
bool waits_for_another_process(const Rank& rank) {
  const Blocked blocked = blocked_on(*rank.task);
  return blocked.kind == WaitKind::kOwnSocket && !other_end_is_here(blocked.tag);
}

// Whom a blocked rank waits for: all of them must act. What can be satisfied in several ways adds none.
class Needs {
 public:
  Needs(const Rank& rank, WaitForEdges& out) : out_(out) {
    edges_.rank = rank.world_rank;
    if (const auto comm = rank.task->note[detail::kCollectiveComm].load(std::memory_order_relaxed)) {
      edges_.collective = rank.task->note[detail::kCollectiveContext].load(std::memory_order_relaxed);
      note_members(*reinterpret_cast<const Comm*>(comm), edges_.collective);
    }
    const Blocked blocked = blocked_on(*rank.task);
    switch (blocked.kind) {
      case WaitKind::kSend:
      case WaitKind::kReceive:
      case WaitKind::kProbe:
        add(*blocked.comm, blocked.peer);
        break;
      case WaitKind::kAll:
        for_each_pending(blocked, [&](const Request& request) { add(request); });
        note_collective(blocked);
        break;
      case WaitKind::kAny:
        for_each_pending(blocked, [&](const Request& request) { add(request); });
        note_collective(blocked);
        if (edges_.needs.size() > 1) edges_.needs.clear();
        break;
      case WaitKind::kCollective:
        await_members(*blocked.comm, blocked.context);
        break;
      case WaitKind::kWindow:
        edges_.needs = blocked.window->world_ranks();
        break;
      default:
        break;
    }
    out_.ranks.push_back(std::move(edges_));
  }

 private:
  void add(const Comm& comm, int peer) {
    if (peer >= 0 && peer < comm.peers) edges_.needs.push_back(comm.shared->peers->world_rank(peer));
  }
  void add(const Request& request) {
    if (request.kind != RequestKind::kExtended && request.comm != nullptr) add(*request.comm, request.peer);
  }
  // A nonblocking collective among the requests that a rank waits for.
  void note_collective(const Blocked& blocked) {
    for_each_pending(blocked, [&](const Request& request) {
      if (edges_.collective != 0 || request.kind != RequestKind::kExtended || request.comm == nullptr) return;
      edges_.collective = request.comm->context;
      note_members(*request.comm, edges_.collective);
    });
  }
  void await_members(const Comm& comm, ContextId context) {
    edges_.awaited = context;
    note_members(comm, context);
  }
  void note_members(const Comm& comm, ContextId context) {
    const auto [entry, is_new] = out_.members.try_emplace(context);
    if (!is_new) return;
    for (const Group* group : {comm.shared->group.get(), comm.shared->peers.get()}) {
      for (int i = 0; i < group->size(); ++i) entry->second.push_back(group->world_rank(i));
      if (comm.shared->peers == comm.shared->group) break;
    }
  }

  WaitForEdges& out_;
  RankEdges edges_;
};

// What all node processes know, put together.
struct Whole {
  std::vector<bool> finished;
  std::vector<std::vector<int>> waits_for;
  bool mismatch = false;  ///< all members of a communicator are in collective calls on it

  Whole(const std::vector<WaitForEdges>& all, int ranks)
      : finished(static_cast<std::size_t>(ranks), true), waits_for(static_cast<std::size_t>(ranks)) {
    std::map<int, ContextId> collective;
    for_each(all, [&](const WaitForEdges&, const RankEdges& edges) {
      finished[static_cast<std::size_t>(edges.rank)] = false;
      if (edges.collective != 0) collective[edges.rank] = edges.collective;
    });
    std::map<ContextId, std::vector<int>> absent;  // members that take no part now
    for (const WaitForEdges& node : all) {
      for (const auto& [context, members] : node.members) {
        const auto [entry, is_new] = absent.try_emplace(context);
        if (!is_new) continue;
        for (const int member : members) {
          const auto found = collective.find(member);
          if (found == collective.end() || found->second != context) entry->second.push_back(member);
        }
      }
    }
    for (const auto& [rank, context] : collective) {
      const auto entry = absent.find(context);
      mismatch = mismatch || (entry != absent.end() && entry->second.empty());
    }
    for_each(all, [&](const WaitForEdges&, const RankEdges& edges) {
      std::vector<int>& needs = waits_for[static_cast<std::size_t>(edges.rank)];
      needs = edges.needs;
      if (edges.awaited != 0) needs = absent[edges.awaited];
      std::erase_if(needs, [&](int rank) { return !known(rank); });
    });
  }

 private:
  bool known(int rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < finished.size(); }
  template <class Function>
  void for_each(const std::vector<WaitForEdges>& all, Function&& fn) {
    for (const WaitForEdges& node : all) {
      for (const RankEdges& edges : node.ranks) {
        if (known(edges.rank)) fn(node, edges);
      }
    }
  }
};

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

std::string finished_lines(const Whole& whole) {
  std::string text;
  int examples = 0;
  for (std::size_t rank = 0; rank < whole.waits_for.size() && examples < kMostExamples; ++rank) {
    for (const int other : whole.waits_for[rank]) {
      if (!whole.finished[static_cast<std::size_t>(other)]) continue;
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

// Messages of the library's own, inside a collective or while a communicator is made, mean nothing to a user.
bool is_of_library(const sched::Task& task, const Blocked& blocked) noexcept {
  return (blocked.context & kCollective) != 0 ||
         task.note[detail::kCollectiveComm].load(std::memory_order_relaxed) != 0;
}

// A message that came for somebody who waits for another one of the same communicator: mostly a wrong tag or
// source.
std::string unreceived_lines() {
  const Claim claim(sched::bias());  // the caller may be any thread
  std::string text;
  int examples = 0;
  for_each_rank([&](Rank& rank) {
    if (examples == kMostExamples || finished(rank)) return;
    const Blocked blocked = blocked_on(*rank.task);
    if (blocked.kind != WaitKind::kReceive && blocked.kind != WaitKind::kProbe) return;
    if (is_of_library(*rank.task, blocked)) return;
    const MatcherLock lock(rank.matcher, rank.matcher.lock_from_outside());
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
  if (const int workers = workers_without_memory(); workers > 0)
    text += fmt::format(
        "  {} of the node's workers had no memory to take in a message that has come; use fewer ranks on "
        "it\n",
        workers);
  return text;
}

}  // namespace

bool stalled() {
  if (job() == nullptr) return false;
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
  bool others = false;
  for_each_rank([&](const Rank& rank) {
    others = others || (!finished(rank) &&
                        (waits_for_the_program(blocked_on(*rank.task)) || waits_for_another_process(rank) ||
                         (other_jobs().any() && waits_for_other_job(rank))));
  });
  return !others;
}

WaitForEdges wait_for_edges() {
  WaitForEdges all;
  for_each_rank([&](const Rank& rank) {
    if (!finished(rank)) Needs(rank, all);
  });
  all.unreceived = unreceived_lines();
  return all;
}

std::string explain_deadlock(const std::vector<WaitForEdges>& all, int ranks) {
  const Whole whole(all, ranks);
  std::string text = cycle_line(find_cycle(whole.waits_for)) + finished_lines(whole);
  for (const WaitForEdges& node : all) text += node.unreceived;
  if (whole.mismatch) {
    text += "  all members of a communicator are in collective calls that do not fit together";
    if (!job_is_checked())
      text += ": run the job with --check, which says where each of them makes the call, and how they differ";
    text += '\n';
  }
  return text;
}

}  // namespace tmpi::mpi
