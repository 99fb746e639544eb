// Members whose stamps differ (shm/stamp.hpp): who has called what, in a sentence that ends the job.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "mpi/coll/stamps.hpp"
#include "mpi/coll/table.hpp"
#include "mpi/comm/context.hpp"
#include "mpi/rank/advice.hpp"
#include "mpi/rank/endings.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"

namespace tmpi::mpi {
namespace {

using namespace stamps;

bool rooted(Stamp stamp) noexcept {
  return get(kFunction, stamp) < kCollectives;
}

// "MPI_Bcast", as a stamp of the slot ring says; a nonblocking or varying form is called differently.
std::string stamped_name(Stamp stamp) {
  if (!rooted(stamp)) return "another function";
  std::string name = name_of(static_cast<Collective>(get(kFunction, stamp)));
  std::transform(name.begin() + 1, name.end(), name.begin() + 1,
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return "MPI_" + name;
}

// True if a call may have left this stamp.
bool fits(std::string_view call, Stamp stamp) {
  if (!rooted(stamp)) return true;
  constexpr std::string_view kNonblocking = "MPI_I";
  const std::string name = stamped_name(stamp);
  if (call.starts_with(name)) return true;
  return call.starts_with(kNonblocking) &&
         call.substr(kNonblocking.size() + 1).starts_with(std::string_view(name).substr(kNonblocking.size()));
}

bool waits_in_collective(const Rank& rank) noexcept {
  const sched::Task& task = *rank.task;
  return task.state.load(std::memory_order_acquire) == sched::TaskState::kBlocked &&
         task.note[detail::kCollectiveComm].load(std::memory_order_relaxed) != 0;
}

bool waits_here(const Rank& rank, const Comm& comm) noexcept {
  return waits_in_collective(rank) &&
         rank.task->note[detail::kCollectiveContext].load(std::memory_order_relaxed) == comm.context;
}

// The member that has come with the other stamp. The one that is named may have come with the same at an earlier
// time, and nobody has been named since; then one that waits.
const Rank* find(const Comm& comm, const Rank* named) noexcept {
  if (named != nullptr && named != comm.owner && (waits_here(*named, comm) || job() == nullptr)) return named;
  for (int i = 0; i < job()->local_count(); ++i) {
    const Rank& rank = job()->local_at(i);
    if (&rank != comm.owner && waits_here(rank, comm)) return &rank;
  }
  return named != comm.owner ? named : nullptr;
}

// Whose collective on `comm` it is. Nonblocking ones have shadow communicators, and of those it may have started several
// since.
std::string call_of(const Rank& rank, const Comm& comm) {
  const std::string_view call = rank.call();
  const char* const last = rank.nonblocking_call.load(std::memory_order_relaxed);
  if (!is_of_shadow(comm.context) || last == nullptr || call == last) return std::string(call);
  return fmt::format("{} (or a nonblocking call before it)", last);
}

// In a slot ring it may have gone on since. In a part of a communicator (hierarchy/) stamps are of the steps of
// a collective.
std::string called(const Comm& comm, const Rank* there, Stamp stamp) {
  if (there == nullptr) return stamped_name(stamp) + " of other members";
  const std::string_view call = there->call();
  // In a part, a blocking call may have gone on to one without such a step.
  const bool this_call = is_of_shadow(comm.context) ? is_of_part(comm.context)
                                                    : waits_in_collective(*there) && fits(call, stamp);
  const std::string name = rooted(stamp) && !this_call ? stamped_name(stamp) : call_of(*there, comm);
  return fmt::format("{} of rank {}", name, there->world_rank);
}

std::string pair(const char* subject, const auto& here, const auto& there) {
  return fmt::format("{} is {} here and {} there", subject, here, there);
}

const char* operator_in(Stamp stamp) {
  return name_of(static_cast<Operator>(get(kOperator, stamp) - 1));
}

std::string difference_of_amounts(Stamp here, Stamp there) {
  std::uint64_t mine = get(kAmount, here), other = get(kAmount, there);
  if (rooted(here)) {
    constexpr std::uint64_t kRoots = (1u << kRootBits) - 1;
    if ((mine & kRoots) != (other & kRoots)) return pair("the root", mine & kRoots, other & kRoots);
    mine >>= kRootBits;
    other >>= kRootBits;
  }
  return pair("the data", fmt::format("{} bytes", mine), other);
}

// Of two calls of one function.
std::string difference(Stamp here, Stamp there, bool plain_amount) {
  if (get(kFunction, here) != get(kFunction, there)) return {};
  if (get(kOperator, here) != get(kOperator, there)) {
    const bool both = get(kOperator, here) > 0 && get(kOperator, there) > 0;
    return both ? pair("the operator", operator_in(here), operator_in(there)) : "";
  }
  if (get(kKind, here) != get(kKind, there)) return "the datatypes differ";
  if (get(kAmount, here) != get(kAmount, there))
    return plain_amount ? difference_of_amounts(here, there) : "the counts, or the roots, differ";
  if (get(kSequence, here) != get(kSequence, there))
    return "one of them has made another collective call before";
  return {};
}

void report(const Comm& comm, Stamp mine, Stamp other, const Rank* named) noexcept {
  Rank& rank = *comm.owner;
  const Rank* there = find(comm, named);
  const std::string_view call = rank.call();
  // Only of one and the same function, or of one that the other has gone on from.
  const bool same = rooted(mine) || there == nullptr || call == there->call() ||
                    std::string_view(there->call()).starts_with("MPI_Wait");
  const bool plain = !call.starts_with("MPI_Reduce_scatter") && !call.starts_with("MPI_Ireduce_scatter") &&
                     !(call.find("educe") != std::string_view::npos && !rooted(mine) &&
                       call.find("llreduce") == std::string_view::npos);
  std::string how = same ? difference(mine, other, plain) : "";
  if (!how.empty()) how = ": " + how;
  end_job(rank, MPI_ERR_NOT_SAME,
          "rank {} on {}: {} does not match {} on the same communicator{}. All members must make the same "
          "collective calls in the same order, and say the same of root, operator and data{}",
          rank.world_rank, job()->host(), call_of(rank, comm), called(comm, there, other), how,
          job_is_checked() ? "" : ". Run the job with --check: it says where these calls are");
}

[[maybe_unused]] const bool registered = [] {
  detail::g_report_mismatch = report;
  return true;
}();

}  // namespace
}  // namespace tmpi::mpi
