#include "launch/node/migration.hpp"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/fd.hpp"
#include "base/sanitized.hpp"
#include "launch/control/control.hpp"
#include "launch/node/saved_rank.hpp"
#include "launch/spec/memory_store.hpp"
#include "launch/spec/saved_job.hpp"
#include "launch/system/program_path.hpp"
#include "launch/wire/checkpoint_news.hpp"
#include "mpi/base/handle_memory.hpp"
#include "mpi/save/copies.hpp"
#include "mpi/save/moments.hpp"
#include "mpi/save/save.hpp"
#include "privatize/rank_memory.hpp"
#include "privatize/rank_saved_state.hpp"
#include "privatize/rank_slots.hpp"
#include "sched/scheduler.hpp"
#include "ult/stack_arena.hpp"

namespace tmpi::launch {
namespace {

namespace fs = std::filesystem;
using privatize::RankSlots;

constexpr unsigned long kAsk = 0xffffffff;  // personality(2)

const JobSpec* the_job = nullptr;
std::optional<MemoryStore> memory_store;
std::vector<std::unique_ptr<mpi::HandleMemory>> handle_memories;  // by world rank; null: the rank is not here
// Null, too, until a rank that is revived makes its objects again: what the runtime makes before must not lie where they do.
std::vector<mpi::HandleMemory*> memories_in_use;

mpi::HandleMemory* memory_of_caller() noexcept {
  const sched::Task* const task = sched::current();
  const auto* const rank = task == nullptr ? nullptr : static_cast<const mpi::Rank*>(task->owner);
  return rank == nullptr ? nullptr : memories_in_use[static_cast<std::size_t>(rank->world_rank)];
}

mpi::HandleMemory* memory_at(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const RankSlots& slots = *RankSlots::get();
  const int rank = slots.owner(at);
  return rank < 0 || !slots.is_handle(at) ? nullptr : handle_memories[static_cast<std::size_t>(rank)].get();
}

std::string why(const std::string& what, const std::error_code& error) {
  return error ? fmt::format("{}: {}", what, error.message()) : "";
}

/// Where the rank's file of this checkpoint goes.
std::string folder_of(const mpi::CheckpointPlace& place, int rank) {
  return place.directory.empty() ? fs::path(memory_store->file(place.number, rank)).parent_path().string()
                                 : place.directory + "/next";
}

/// Once per job, where rank 0 is; of the job's own: what the program asks for elsewhere is its affair.
void tell(std::uint16_t what, const mpi::CheckpointPlace& place) {
  if (handle_memories[0] == nullptr || !the_job->checkpoints || place.directory != the_job->checkpoint_to)
    return;
  Control::instance()->send(FrameType::kCheckpoint, -1, what,
                            packed(CheckpointNews{place.number, place.directory}));
}

std::string begin_checkpoint(const mpi::CheckpointPlace& place) {
  tell(kCheckpointBegun, place);
  if (place.directory.empty()) {
    const Result<void> begun = memory_store->begin(place.number);
    return begun ? "" : begun.message();
  }
  std::error_code error;
  const fs::path next = fs::path(place.directory) / "next";
  fs::create_directories(place.directory, error);
  if (!error) fs::remove_all(next, error);
  if (!error && mkdir(next.c_str(), S_IRWXU) != 0) error = {errno, std::generic_category()};
  return why(next, error);
}

/// What has been written stays even if the machine ends now.
void sync_folder(const fs::path& folder) noexcept {
  const Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) (void)fsync(fd.get());
}

/// Puts the checkpoint in the place of the one before.
std::string put_in_force(const mpi::CheckpointPlace& place) {
  std::error_code error, ignored;
  const fs::path folder = place.directory, next = folder / "next", last = folder / "last",
                 before = folder / "before";
  JobSpec job = *the_job;
  job.slot_bytes = RankSlots::get()->bytes();
  job.checkpoint = place.number;
  if (const Result<void> written = write_saved_job(next, job); !written) return written.message();
  sync_folder(next);
  // One of `last` and `before` is complete at any moment.
  if (fs::exists(last, error)) {
    fs::remove_all(before, error);
    if (!error) fs::rename(last, before, error);
  }
  if (!error) fs::rename(next, last, error);
  sync_folder(folder);
  if (!error) fs::remove_all(before, ignored);
  return why(last, error);
}

std::string end_checkpoint(const mpi::CheckpointPlace& place, bool complete) {
  std::error_code ignored;
  std::string problem;
  if (place.directory.empty())
    memory_store->end(place.number, complete);
  else if (complete)
    problem = put_in_force(place);
  else
    fs::remove_all(fs::path(place.directory) / "next", ignored);
  if (complete && problem.empty()) tell(kCheckpointComplete, place);
  return problem;
}

std::string write_rank(const mpi::Rank& rank, const mpi::CheckpointPlace& place, const void* stack,
                       std::span<const std::byte> state) {
  SavedRank saved;
  saved.rank = rank.world_rank;
  saved.checkpoint = place.number;
  saved.stack = reinterpret_cast<std::uint64_t>(stack);
  saved.mpi_state.assign(state.begin(), state.end());
  saved.process_state = privatize::saved_state(rank.world_rank);
  Result<std::string> surroundings = privatize::surroundings_of(rank.world_rank);
  if (!surroundings) return "cannot be saved: " + surroundings.message();
  saved.surroundings = *std::move(surroundings);
  Result<privatize::RankMemory> memory = privatize::memory_of(rank.world_rank, saved.stack, place.number);
  if (!memory) return "cannot be saved: " + memory.message();
  saved.memory = *std::move(memory);
  const Result<void> written = write_saved_rank(folder_of(place, rank.world_rank), saved);
  return written ? "" : "cannot write " + written.message();
}

[[noreturn]] void end_job(const mpi::Rank& rank, const std::string& why) {
  Control::instance()->end_job(EndKind::kStartFailed, rank.world_rank, 1,
                               fmt::format("rank {} on host {} cannot go on from its checkpoint: {}",
                                           rank.world_rank, mpi::job()->host(), why));
}

/// The first line of `before` that is not among those of `now`; empty: none.
std::string_view missing_line(std::string_view before, std::string_view now) {
  while (!before.empty()) {
    const std::string_view line = before.substr(0, before.find('\n') + 1);
    if (line.empty() || now.find(line) == std::string_view::npos) return line.substr(0, line.find(' '));
    before.remove_prefix(line.size());
  }
  return {};
}

/// On a part of the rank's stack that was not in use when it was saved.
[[noreturn, gnu::noinline]] void fill_and_go_on(const SavedRankFile* file, mpi::Rank& rank) {
  const Result<void> filled = file->fill();
  if (!filled) end_job(rank, filled.message());
  const Result<void> taken = privatize::take_saved_state(rank.world_rank, file->saved().process_state);
  if (!taken) end_job(rank, taken.message());
  if (mpi::wait_for_revived(rank)) end_job(rank, mpi::take_explanation());
  const void* const stack = reinterpret_cast<const void*>(file->saved().stack);
  delete file;
  mpi::tmpi_go_on_at(stack);
}

[[noreturn, gnu::noinline]] void go_below(const SavedRankFile* file, mpi::Rank& rank) {
  constexpr std::uintptr_t kMargin = 16 << 10;
  const std::uintptr_t wanted = (file->saved().stack & ~std::uintptr_t{4095}) - kMargin;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  volatile char* const room = static_cast<char*>(alloca(here > wanted ? here - wanted : 1));
  room[0] = 0;
  fill_and_go_on(file, rank);
}

}  // namespace

bool has_other_addresses(const JobSpec& job) noexcept {
  const int now = personality(kAsk);
  return job.migratable && (now == -1 || (now & ADDR_NO_RANDOMIZE) == 0);
}

bool choose_addresses() noexcept {
  const int now = personality(kAsk);
  return now != -1 && personality(static_cast<unsigned>(now) | ADDR_NO_RANDOMIZE) != -1;
}

// tcbhead_t of glibc: where compilers find the stack's guard, and libc the one of pointers. Threads made later take both over.
[[gnu::noinline]] void take_guards(const JobSpec& job) noexcept {
  if (!job.migratable) return;
  asm volatile("movq %0, %%fs:0x28" : : "r"(job.stack_guard));
  asm volatile("movq %0, %%fs:0x30" : : "r"(job.pointer_guard));
}

Result<void> prepare_slots(const JobSpec& job, int node, std::size_t stack_size, mpi::Job& ranks) {
  if (!job.migratable) return {};
  if (job.memory_store != 0) {
    Result<MemoryStore> opened = MemoryStore::open(job.memory_store, node);
    if (!opened)
      return Failure{"--survive: checkpoints cannot lie in the memory of this host: " + opened.message()};
    memory_store.emplace(*std::move(opened));
  }
  if (kSanitized)
    return Failure{"--migratable: this node process runs with a sanitizer, which has addresses of its own"};
  if (has_other_addresses(job)) {
    return Failure{
        "--migratable: the system does not let a process have the same addresses as another (personality: " +
        std::string(strerror(EPERM)) + "); in a container, allow it with --security-opt seccomp=unconfined"};
  }
  if (const Result<void> created =
          RankSlots::create(job.total_ranks(), job.slot_bytes, ult::StackArena::footprint(stack_size));
      !created)
    return created;
  const RankSlots& slots = *RankSlots::get();
  handle_memories.resize(static_cast<std::size_t>(job.total_ranks()));
  memories_in_use.resize(handle_memories.size());
  for (int i = 0; i < ranks.local_count(); ++i) {
    const int rank = ranks.local_at(i).world_rank;
    const std::uintptr_t begin = slots.handles(rank);
    if (mmap(reinterpret_cast<void*>(begin), slots.handle_bytes(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
      return Failure{fmt::format("--migratable: cannot map memory for rank {}: {}", rank, strerror(errno))};
    handle_memories[static_cast<std::size_t>(rank)] =
        std::make_unique<mpi::HandleMemory>(begin, slots.handle_bytes());
    if (!job.revived())
      memories_in_use[static_cast<std::size_t>(rank)] = handle_memories[static_cast<std::size_t>(rank)].get();
  }
  mpi::HandleMemory::set_owners({&memory_of_caller, &memory_at});
  return {};
}

std::vector<std::uintptr_t> stack_ends(mpi::Job& ranks) {
  std::vector<std::uintptr_t> ends;
  const RankSlots* const slots = RankSlots::get();
  for (int i = 0; slots != nullptr && i < ranks.local_count(); ++i)
    ends.push_back(slots->stack(ranks.local_at(i).world_rank) + slots->stack_bytes());
  return ends;
}

Result<std::string> heap_library() {
  return find_companion("libtmpi-heap.so");
}

const mpi::SavingCallbacks* saving_callbacks(const JobSpec& job) {
  static const mpi::MemoryCallbacks in_memory{
      .copies = job.survive,
      .file =
          [](std::uint64_t number, int rank) {
            (void)memory_store->begin(number);  // if not: opening the file says why
            return memory_store->file(number, rank);
          },
      .find = [](std::uint64_t number, int rank) { return memory_store->find(number, rank); },
      .numbers = [] { return memory_store->numbers(); }};
  static const mpi::SavingCallbacks callbacks{
      .why_not = [](const mpi::Rank& rank) { return privatize::why_not_saved(rank.world_rank); },
      .allocate =
          [](std::size_t alignment, std::size_t bytes) noexcept {
            const void* const function = privatize::function_of(privatize::running_rank(), "aligned_alloc");
            return reinterpret_cast<void* (*)(std::size_t, std::size_t)>(const_cast<void*>(function))(
                alignment, bytes);
          },
      .release =
          [](void* memory) noexcept {
            const void* const function = privatize::function_of(privatize::running_rank(), "free");
            reinterpret_cast<void (*)(void*)>(const_cast<void*>(function))(memory);
          },
      .begin = &begin_checkpoint,
      .end = &end_checkpoint,
      .write = &write_rank,
      .memory = job.memory_store != 0 ? &in_memory : nullptr};
  the_job = &job;
  return job.migratable ? &callbacks : nullptr;
}

void prepare_moments(const JobSpec& job) {
  if (!job.migratable) return;
  // In every such job: what a rank's functions are bound to goes with it, wherever it is revived.
  privatize::substitute_functions(&mpi::moment_function);
  if (!job.checkpoints) return;
  mpi::save_at_moments({.every = std::chrono::milliseconds(job.checkpoint_every),
                        .directory = job.checkpoint_to,
                        .warn = [](const std::string& why) {
                          Control::instance()->send(FrameType::kCheckpoint, -1, kCheckpointFailed, why);
                          static std::string said;  // once
                          if (!the_job->quiet && why != said)
                            Control::instance()->notice(NoticeKind::kWarning,
                                                        "warning: --checkpoint: " + why);
                          said = why;
                        }});
}

void revive_rank(const JobSpec& job, mpi::Rank& rank) {
  std::uint64_t number = job.checkpoint;
  std::string folder = job.restart;
  if (job.from_memory) {
    const Result<std::uint64_t> found = mpi::gather_files(rank);
    if (!found) end_job(rank, found.message());
    number = *found;
    folder = fs::path(memory_store->find(number, rank.world_rank)).parent_path();
  }
  mpi::newest_checkpoint_is(number);
  const Result<SavedRankFile*> file = SavedRankFile::open(folder, number, rank.world_rank);
  if (!file) end_job(rank, file.message());
  const Result<std::string> surroundings = privatize::surroundings_of(rank.world_rank);
  if (!surroundings) end_job(rank, surroundings.message());
  if (const std::string_view line = missing_line((*file)->saved().surroundings, *surroundings);
      !line.empty()) {
    end_job(rank,
            fmt::format(
                "{} is another one here, or lies elsewhere in memory, than where the checkpoint was written; "
                "it needs the same program, libraries and tmpi",
                line));
  }
  const auto index = static_cast<std::size_t>(rank.world_rank);
  memories_in_use[index] = handle_memories[index].get();
  if (mpi::revive(rank, (*file)->saved().mpi_state))
    end_job(rank, "what it has of MPI's cannot be made again: " + mpi::take_explanation());
  go_below(*file, rank);
}

}  // namespace tmpi::launch
