#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "mpi.h"
#include "mpi/coll/coll.hpp"
#include "mpi/coll/hierarchy/hierarchy.hpp"
#include "mpi/coll/messages/messages.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/save/copies.hpp"
#include "mpi/save/rank_state.hpp"
#include "mpi/save/save.hpp"
#include "mpi/save/under_way.hpp"
#include "mpix.h"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

Err as_error(int code) noexcept {
  return code == MPI_SUCCESS ? kOk : Err(code);
}

/// Every member hears from every other one.
Err meet_each(Comm& comm) {
  Messages messages(comm, Collective::kAlltoall);
  char sent = 0, received = 0;
  const Datatype& byte = *datatype_from(MPI_BYTE);
  for (int step = 1; step < comm.size; ++step)
    messages.exchange({&sent, 1, &byte}, (comm.rank + step) % comm.size, {&received, 1, &byte},
                      (comm.rank - step + comm.size) % comm.size);
  return messages.result();
}

/// `text` of rank `root`, on all ranks.
Err broadcast(std::string& text, int root) {
  int length = static_cast<int>(text.size());
  TMPI_TRY(as_error(PMPI_Bcast(&length, 1, MPI_INT, root, MPI_COMM_WORLD)));
  text.resize(static_cast<std::size_t>(length));
  return as_error(PMPI_Bcast(text.data(), length, MPI_CHAR, root, MPI_COMM_WORLD));
}

/// Of the lowest rank that has something in its way: on all ranks the same.
Err agree(Rank& rank, const std::string& problem) {
  const int here = problem.empty() ? rank.world.size : rank.world.rank;
  int lowest = rank.world.size;
  TMPI_TRY(as_error(PMPI_Allreduce(&here, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD)));
  if (lowest == rank.world.size) return kOk;
  std::string sentence = problem;
  TMPI_TRY(broadcast(sentence, lowest));
  return fail(MPI_ERR_OTHER, "the ranks have not been saved: {}", sentence);
}

std::string sentence_of(const Rank& rank, const std::string& problem) {
  return problem.empty() ? "" : fmt::format("rank {} on host {} {}", rank.world_rank, job()->host(), problem);
}

/// Every message that has been sent before is where its receiver's worker sees it: within the node process after a barrier,
/// between node processes when their leaders have heard from each other, since what goes from one to another keeps its order.
Err settle(Rank& rank) {
  TMPI_TRY(barrier(rank.world));
  if (job()->nodes() > 1) {
    Hierarchy& parts = hierarchy_of(rank.world);
    if (parts.is_node_leader() && parts.inter_node != nullptr) TMPI_TRY(meet_each(*parts.inter_node));
    TMPI_TRY(barrier(rank.world));
  }
  (void)take_in(sched::current_worker());
  return kOk;
}

/// Whoever does for others what is done once: in a directory for all, in the memory of hosts for those of a node process.
bool is_first(Rank& rank, const std::string& directory) {
  return directory.empty() ? rank.local_index == 0 : rank.world.rank == 0;
}

std::string directory_of_first(Rank& rank, const char* directory) {
  std::error_code unknown;  // then it stays as it is
  const bool known = rank.world.rank == 0 && directory != nullptr && *directory != '\0';
  std::string first = known ? std::filesystem::absolute(directory, unknown).string() : "";
  (void)broadcast(first, 0);
  return first;
}

std::atomic<std::uint64_t> newest{0};  // relaxed: only the value matters

/// Of this checkpoint: files of different ones are not taken for one, and the later one has the larger number, also where
/// the clock of another host is behind.
std::uint64_t number_of_first(const Rank& rank) {
  std::uint64_t number = 0;
  if (rank.world.rank == 0) {
    const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    number = std::max(now, newest.load(std::memory_order_relaxed) + 1);
    newest_checkpoint_is(number);
  }
  (void)PMPI_Bcast(&number, sizeof number, MPI_BYTE, 0, MPI_COMM_WORLD);
  return number;
}

}  // namespace

void newest_checkpoint_is(std::uint64_t number) noexcept {
  std::uint64_t now = newest.load(std::memory_order_relaxed);
  while (now < number && !newest.compare_exchange_weak(now, number, std::memory_order_relaxed)) continue;
}

Err checkpoint(Rank& rank, const char* directory, const void* stack) {
  const SavingCallbacks* const saving = callbacks().saving;
  if (saving == nullptr)
    return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                "ranks of this job have no addresses of their own: start it with tmpirun --migratable");
  const std::string where = directory_of_first(rank, directory);
  const std::uint64_t number = number_of_first(rank);
  const CheckpointPlace place{where, number};
  const bool in_memory = where.empty(), first = is_first(rank, where);
  std::string problem;
  if (in_memory && saving->memory == nullptr) problem = "has called it without a directory";
  if (problem.empty() && !is_main_flow()) problem = "has called it in a thread that it has created";
  if (problem.empty()) problem = why_not_saved(rank);
  if (problem.empty()) problem = saving->why_not(rank);
  TMPI_TRY(agree(rank, sentence_of(rank, problem)));
  TMPI_TRY(settle(rank));
  TMPI_TRY(agree(rank, sentence_of(rank, why_not_brought(rank))));
  TMPI_TRY(agree(rank, sentence_of(rank, bring_messages(rank))));
  finish_matched(rank);
  problem = first ? saving->begin(place) : "";
  TMPI_TRY(agree(rank, problem));
  problem = sentence_of(rank, saving->write(rank, place, stack, saved_rank_state(rank)));
  Err written = agree(rank, problem);
  if (!written && in_memory) written = agree(rank, sentence_of(rank, spread_copies(rank, number)));
  problem = first ? saving->end(place, !written) : "";
  TMPI_TRY(written);
  return agree(rank, problem);
}

}  // namespace tmpi::mpi

using namespace tmpi::mpi;

extern "C" {

int tmpi_checkpoint(const char* directory, const void* stack) {
  return on_rank("MPIX_Checkpoint", [&](Rank& rank) -> Err { return checkpoint(rank, directory, stack); });
}

int PMPIX_Restarted(int* flag) {
  return on_rank("MPIX_Restarted", [&](Rank& rank) -> Err {
    if (flag == nullptr) return fail(MPI_ERR_ARG, "the argument flag is a null pointer");
    *flag = rank.revived ? 1 : 0;
    return kOk;
  });
}
__attribute__((weak, alias("PMPIX_Restarted"),
               visibility("default"))) decltype(PMPIX_Restarted) MPIX_Restarted;
}
