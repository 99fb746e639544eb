#include "mpi/save/moments.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "mpi.h"
#include "mpi/rank/call.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"
#include "mpi/save/save.hpp"

namespace tmpi::mpi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenQuestions{1000},
    kLeastBetween{20};  // or a quarter of the interval
constexpr std::uint64_t kMostBetween = 1'000'000;

/// Of one rank; all ranks count alike.
struct Counted {
  std::uint64_t moments = 0;
  std::uint64_t asked = 1;  // at this one
};

/// Rank 0's answer.
struct Answer {
  std::uint64_t next;
  int save;
};

Moments settings;
std::unique_ptr<Counted[]> counted;  // by local index
std::atomic<bool> any{false};        // relaxed
std::atomic<bool> wanted_soon{false};
Clock::time_point begun;

// Of rank 0 alone.
Clock::time_point last_question, last_save;
std::uint64_t last_moment = 0;

Answer decide(std::uint64_t moment) {
  const auto now = Clock::now();
  if (last_moment == 0) last_question = last_save = now;
  // As many as there were in a second; at first one by one.
  const double seconds = std::max(std::chrono::duration<double>(now - last_question).count(), 1e-6);
  const auto pause = settings.every.count() == 0
                         ? kBetweenQuestions
                         : std::clamp(settings.every / 4, kLeastBetween, kBetweenQuestions);
  const double wanted = std::chrono::duration<double>(pause).count();
  const auto passed = static_cast<double>(moment - last_moment);
  const auto ahead = static_cast<std::uint64_t>(
      std::clamp(passed * wanted / seconds, 1.0, std::min(2 * passed, double{kMostBetween})));
  const bool due = settings.every.count() > 0 && now - last_save >= settings.every;
  Answer answer{moment + ahead, wanted_soon.exchange(false) || due};
  last_question = now;
  last_moment = moment;
  if (answer.save != 0) last_save = now;
  return answer;
}

}  // namespace

void save_at_moments(Moments moments) {
  settings = std::move(moments);
  begun = Clock::now();
  counted = std::make_unique<Counted[]>(static_cast<std::size_t>(job()->most_local()));
}

void save_soon() noexcept {
  wanted_soon = true;
}

bool no_moment_came() noexcept {
  return counted != nullptr && settings.every.count() > 0 && !any.load(std::memory_order_relaxed) &&
         Clock::now() - begun >= settings.every;
}

}  // namespace tmpi::mpi

using namespace tmpi::mpi;

extern "C" {

// Called from moments.S; nothing of these frames is on the stack that is saved.

/// The directory to be written to now; null: it is not the moment.
const char* tmpi_moment(MPI_Comm handle) {
  if (counted == nullptr) return nullptr;
  const Frame frame("MPIX_Checkpoint");
  Rank* const rank = frame.rank();
  if (rank == nullptr || !is_main_flow()) return nullptr;
  const Comm* const comm = comm_from(*rank, handle);
  if (comm == nullptr || comm->inter() || comm->size != rank->world.size ||
      comm->shared->other_job != nullptr)
    return nullptr;
  Counted& own = counted[rank->local_index];
  if (++own.moments != own.asked) return nullptr;
  any.store(true, std::memory_order_relaxed);
  Answer answer = rank->world.rank == 0 ? decide(own.moments) : Answer{};
  if (PMPI_Bcast(&answer, sizeof answer, MPI_BYTE, 0, MPI_COMM_WORLD) != MPI_SUCCESS) return nullptr;
  own.asked = answer.next;
  return answer.save != 0 ? settings.directory.c_str() : nullptr;
}

/// What an automatic checkpoint leaves of an error: a warning, and the program goes on.
int tmpi_checkpoint_quietly(const char* directory, const void* stack) {
  const Frame frame("MPIX_Checkpoint");
  Rank* const rank = frame.rank();
  if (rank != nullptr && checkpoint(*rank, directory, stack)) {
    const std::string why = take_explanation();
    if (rank->world.rank == 0) settings.warn(why);
  }
  return MPI_SUCCESS;
}

void tmpi_moment_Barrier();
void tmpi_moment_Bcast();
void tmpi_moment_Allreduce();
void tmpi_moment_Reduce();
}

const void* tmpi::mpi::moment_function(const char* name) {
  static constexpr std::pair<const char*, void (*)()> kFunctions[] = {
      {"MPI_Barrier", &tmpi_moment_Barrier},
      {"MPI_Bcast", &tmpi_moment_Bcast},
      {"MPI_Allreduce", &tmpi_moment_Allreduce},
      {"MPI_Reduce", &tmpi_moment_Reduce}};
  for (const auto& [of, function] : kFunctions) {
    if (std::strcmp(of, name) == 0) return reinterpret_cast<const void*>(function);
  }
  return nullptr;
}
