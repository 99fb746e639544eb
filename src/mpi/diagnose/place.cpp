#include "mpi/diagnose/place.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "mpi/comm/context.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi {
namespace {

constexpr const char* kPeer = "{}";

const char* direction(WaitKind kind) noexcept {
  return kind == WaitKind::kSend ? "to" : "from";
}

std::string name_of_comm(const Comm* comm, ContextId context, bool asleep) {
  if (asleep && comm != nullptr && !comm->name.empty()) return comm->name;
  return name_of_context(context);
}

// Peers of MPI_COMM_WORLD are world ranks anyway; those of other communicators can be translated while all
// sleep.
void name_peer(Place& place, const Blocked& blocked, const Comm* comm, bool asleep, std::string& text) {
  if (blocked.peer == MPI_ANY_SOURCE) {
    text = "any source";
  } else if ((blocked.context & ~kCollective) == kWorldContext) {
    place.peer = blocked.peer;
    text = kPeer;
  } else if (asleep && comm != nullptr && blocked.peer >= 0 && blocked.peer < comm->peers) {
    place.peer = comm->shared->peers->world_rank(blocked.peer);
    text = fmt::format("{} (rank {} there)", kPeer, blocked.peer);
  } else {
    text = fmt::format("rank {} there", blocked.peer);
  }
}

std::string message(Place& place, const Blocked& blocked, WaitKind kind, const Comm* comm, bool asleep) {
  std::string peer;
  name_peer(place, blocked, comm, asleep, peer);
  if ((blocked.context & kCollective) != 0) {  // the library's own
    return fmt::format("on {}, for a message {} {}", name_of_comm(comm, blocked.context, asleep),
                       direction(kind), peer);
  }
  const std::string tag = blocked.tag == MPI_ANY_TAG ? "any tag" : fmt::format("tag {}", blocked.tag);
  return fmt::format("{} {} with {} on {}", direction(kind), peer, tag,
                     name_of_comm(comm, blocked.context, asleep));
}

const Request* first_pending(const Blocked& blocked) noexcept {
  for (int i = 0; i < blocked.size; ++i) {
    const Request* request = blocked.array[i];
    if (request != nullptr && !request->done()) return request;
  }
  return nullptr;
}

// "MPI_Ibcast", as far as that can be looked at.
const char* name_of_operation(const Request* request) noexcept {
  const char* const call =
      request != nullptr && request->extension != nullptr ? request->extension->call() : nullptr;
  return call != nullptr ? call : "a nonblocking operation";
}

std::string requests(Place& place, const Blocked& blocked, bool asleep) {
  const Request* const request = asleep ? first_pending(blocked) : nullptr;
  const Comm* const comm = request != nullptr ? request->comm : nullptr;
  std::string first;
  if (blocked.first == WaitKind::kOperation) {
    first = blocked.context == 0 ? "a generalized request"
                                 : fmt::format("{} on {}", name_of_operation(request),
                                               name_of_comm(comm, blocked.context, asleep));
  } else {
    first = fmt::format("{} {}", blocked.first == WaitKind::kSend ? "a send" : "a receive",
                        message(place, blocked, blocked.first, comm, asleep));
  }
  if (blocked.pending <= 1) return "for " + first;
  return fmt::format("for {} {} requests, the first one {}",
                     blocked.kind == WaitKind::kAny ? "any of" : "all of", blocked.pending, first);
}

// It has gone on to MPI_Finalize or MPI_File_close, and nobody holds the requests any more.
std::string started(const Rank& rank) {
  const char* const last = rank.nonblocking_call.load(std::memory_order_relaxed);
  return fmt::format("for the end of nonblocking operations that it has started{}",
                     last != nullptr ? fmt::format(" (the last one is {})", last) : "");
}

// Ranks of MPI_COMM_WORLD, the first few.
std::string window_text(Place& place, const WindowWait& window) {
  const std::vector<int> ranks = window.world_ranks();
  std::string text = window.describe();
  if (ranks.size() == 1) {
    place.peer = ranks[0];
    return text + ", by " + kPeer;
  }
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i)
    text += fmt::format("{}{}", i == 0 ? ", by ranks " : ", ", ranks[i]);
  return ranks.size() > kMost ? text + fmt::format(" and {} others", ranks.size() - kMost) : text;
}

// A collective may wait for messages of its own making, on a communicator that the program does not know:
// what the user has called is what counts.
Blocked of_collective(const sched::Task& task, Blocked blocked) noexcept {
  const bool message = blocked.kind == WaitKind::kSend || blocked.kind == WaitKind::kReceive ||
                       blocked.kind == WaitKind::kAll || blocked.kind == WaitKind::kAny;
  const std::uint64_t comm = task.note[detail::kCollectiveComm].load(std::memory_order_relaxed);
  if (!message || comm == 0) return blocked;
  blocked.kind = WaitKind::kCollective;
  blocked.comm = reinterpret_cast<const Comm*>(comm);
  blocked.context = task.note[detail::kCollectiveContext].load(std::memory_order_relaxed);
  return blocked;
}

}  // namespace

std::string name_of_context(ContextId context) {
  context = base_of(context);
  if (context == kWorldContext) return "MPI_COMM_WORLD";
  if (context == kSelfContext) return "MPI_COMM_SELF";
  if (is_named(context)) return "a communicator in the making";
  if (is_between_jobs(context)) return "a communicator with ranks of another job";
  return fmt::format("communicator {}.{} (made by rank {})", maker_of(context), number_of(context),
                     maker_of(context));
}

namespace {

// Another job's rank has a name of its own: its number here nobody knows.
void name_other_jobs(Place& place) {
  const std::size_t where = of_other_job(place.peer) ? place.detail.find(kPeer) : std::string::npos;
  if (where == std::string::npos) return;
  place.detail.replace(where, std::string_view(kPeer).size(), name_of_rank(place.peer));
  place.peer = -1;
}

Place place_here(const Rank& rank, bool asleep) {
  Place place;
  if (rank.task == nullptr) return place;
  place.call = rank.call();
  const Blocked blocked = of_collective(*rank.task, blocked_on(*rank.task));
  switch (blocked.kind) {
    case WaitKind::kNothing:
      break;
    case WaitKind::kOperation:
      place.detail = "for the other members";
      break;
    case WaitKind::kStarted:
      place.detail = started(rank);
      break;
    case WaitKind::kSend:
    case WaitKind::kReceive:
    case WaitKind::kProbe:
      place.detail = message(place, blocked, blocked.kind, blocked.comm, asleep);
      break;
    case WaitKind::kAll:
    case WaitKind::kAny:
      place.detail = requests(place, blocked, asleep);
      break;
    case WaitKind::kCollective:
      place.detail = "on " + name_of_comm(blocked.comm, blocked.context, asleep);
      break;
    case WaitKind::kPort:
    case WaitKind::kOutside:
      place.detail = fmt::format("for the other end of port {}, which {} has opened", blocked.tag, kPeer);
      place.peer = blocked.peer;
      break;
    case WaitKind::kSocket:
    case WaitKind::kOwnSocket:
      place.detail = fmt::format("for the other end of the socket {}", blocked.tag);
      break;
    case WaitKind::kWindow:
      place.detail = asleep ? window_text(place, *blocked.window) : "for other members of a window";
      break;
  }
  return place;
}

}  // namespace

Place place_of(const Rank& rank, bool asleep) {
  Place place = place_here(rank, asleep);
  name_other_jobs(place);
  return place;
}

}  // namespace tmpi::mpi
