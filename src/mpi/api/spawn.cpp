// Starting processes. MPI report, 11.8.
#include "mpi/create/spawn.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/platform.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/info.hpp"

namespace tmpi::mpi {
namespace {

// Takes a number off the front. False: there is none.
bool take_number(std::string_view& text, int& value) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

// The largest number of processes up to `most` that one triplet first[:last[:step]] allows; 0: none.
int largest_of(long first, long last, long step, int most) {
  if (step < 0) {
    std::swap(first, last);
    step = -step;
    if (first > last) return 0;
    first = last - (last - first) / step * step;  // counted from the other end
  }
  last = std::min(last, static_cast<long>(most));
  return first > last ? 0 : static_cast<int>(std::max(0L, first + (last - first) / step * step));
}

// The info key soft: a list of triplets. MPI report, 11.8.4.
Err apply_soft(std::string_view soft, int& ranks) {
  const std::string_view whole = soft;
  const auto bad = [&] {
    return fail(MPI_ERR_INFO_VALUE,
                "the info key soft is \"{}\": it must be a list of numbers or ranges, as \"1,2,4:16:4\"",
                whole);
  };
  int chosen = 0;
  for (;;) {
    int numbers[3] = {0, 0, 1};
    int count = 0;
    for (;;) {
      if (count == 3 || !take_number(soft, numbers[count++])) return bad();
      if (!soft.starts_with(':')) break;
      soft.remove_prefix(1);
    }
    if (count == 1) numbers[1] = numbers[0];
    if (numbers[2] == 0) return bad();
    chosen = std::max(chosen, largest_of(numbers[0], numbers[1], numbers[2], ranks));
    if (soft.empty()) break;
    if (!soft.starts_with(',')) return bad();
    soft.remove_prefix(1);
  }
  if (chosen == 0)
    return fail(MPI_ERR_SPAWN,
                "the info key soft, \"{}\", allows no number of processes from 1 to maxprocs, {}", whole,
                ranks);
  ranks = chosen;
  return kOk;
}

Err read_info(MPI_Info handle, SpawnCommand& command) {
  const Info* info;
  TMPI_TRY(hints_from(handle, info));
  const auto text = [&](const char* key, std::string& value) {
    if (const std::string* given = info->find(key)) value = *given;
  };
  text("wdir", command.wdir);
  text("path", command.path);
  text("host", command.host);
  if (const std::string* arch = info->find("arch"); arch != nullptr && *arch != kArchitecture)
    return fail(MPI_ERR_SPAWN, "the info key arch is \"{}\", but all machines of the job are \"{}\"", *arch,
                kArchitecture);
  if (const std::string* soft = info->find("soft"); soft != nullptr && command.ranks > 0)
    TMPI_TRY(apply_soft(*soft, command.ranks));
  return kOk;
}

// One command of the root's.
Err add_command(const char* command, char* const* argv, int maxprocs, MPI_Info info, SpawnWish& wish) {
  TMPI_TRY(check_pointer(command, "command"));
  if (maxprocs < 0) return fail(MPI_ERR_ARG, "maxprocs is {}: it must not be negative", maxprocs);
  if (*command == '\0') return fail(MPI_ERR_ARG, "command is empty: it must name a program");
  SpawnCommand wanted;
  wanted.command = command;
  wanted.ranks = maxprocs;
  for (; argv != nullptr && *argv != nullptr; ++argv) wanted.arguments.emplace_back(*argv);
  wish.commands.push_back(wanted);
  return read_info(info, wish.commands.back());
}

// `fill` reads the root's arguments.
template <class Fill>
int spawn_with(const char* name, int root, MPI_Comm comm, MPI_Comm* intercomm, int* codes, Fill&& fill) {
  return on_collective(name, comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(intercomm, "intercomm"));
    if (c.inter())
      return fail(MPI_ERR_COMM, "comm is an intercommunicator, but must be an intracommunicator");
    if (root < 0 || root >= c.size)
      return fail(MPI_ERR_ROOT, "root is {}, but the communicator has ranks 0 to {}", root, c.size - 1);
    SpawnWish wish;
    if (c.rank == root) {
      Err error = fill(wish);
      if (!error &&
          std::ranges::all_of(wish.commands, [](const SpawnCommand& one) { return one.ranks == 0; }))
        error = fail(MPI_ERR_ARG, "no process is to be started: maxprocs is 0");
      if (error) {
        wish.error = error.error_class();
        wish.why = take_explanation();
      }
    }
    *intercomm = MPI_COMM_NULL;
    Comm* created = nullptr;
    TMPI_TRY(spawn(c, root, wish, created, codes));
    *intercomm = created->handle;
    return kOk;
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm* intercomm, int array_of_errcodes[]) {
  return spawn_with("MPI_Comm_spawn", root, comm, intercomm, array_of_errcodes, [&](SpawnWish& wish) {
    wish.most = {std::max(maxprocs, 0)};
    return add_command(command, argv, maxprocs, info, wish);
  });
}
TMPI_PROFILED(MPI_Comm_spawn);

int PMPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                             const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                             MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  return spawn_with(
      "MPI_Comm_spawn_multiple", root, comm, intercomm, array_of_errcodes, [&](SpawnWish& wish) -> Err {
        if (count < 1) return fail(MPI_ERR_COUNT, "count is {}: there must be a command", count);
        TMPI_TRY(check_pointer(array_of_commands, "array_of_commands"));
        TMPI_TRY(check_pointer(array_of_maxprocs, "array_of_maxprocs"));
        for (int i = 0; i < count; ++i) wish.most.push_back(std::max(array_of_maxprocs[i], 0));
        TMPI_TRY(check_pointer(array_of_info, "array_of_info"));
        for (int i = 0; i < count; ++i) {
          char* const* argv = array_of_argv != MPI_ARGVS_NULL ? array_of_argv[i] : MPI_ARGV_NULL;
          TMPI_TRY(add_command(array_of_commands[i], argv, array_of_maxprocs[i], array_of_info[i], wish));
        }
        return kOk;
      });
}
TMPI_PROFILED(MPI_Comm_spawn_multiple);

int PMPI_Comm_get_parent(MPI_Comm* parent) {
  return on_rank("MPI_Comm_get_parent", [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(parent, "parent"));
    *parent = rank.parent != nullptr ? rank.parent->handle : MPI_COMM_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Comm_get_parent);
