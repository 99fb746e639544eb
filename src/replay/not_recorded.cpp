// What is determined by nobody and is not recorded: a program that uses it is told that a replay may go another way.
#include "replay/logs.hpp"

namespace tmpi::replay {
namespace {

constexpr const char* kAtomics =
    "it uses one-sided operations that fetch and replace a value, or exclusive locks: their order is not "
    "recorded";
constexpr const char* kSharedFiles = "it uses a shared file pointer: who moves it first is not recorded";
constexpr const char* kOtherWorlds =
    "it starts ranks or connects with other jobs: who comes first is not recorded";
constexpr const char* kStatuses =
    "it calls MPI_Request_get_status_any or _some, whose answer is not recorded";

template <auto kFunction, const auto& kWhy>
struct Spoiling;

template <class... Arguments, int (*kFunction)(Arguments...), const auto& kWhy>
struct Spoiling<kFunction, kWhy> {
  static int call(Arguments... arguments) {
    spoil(kWhy);
    return kFunction(arguments...);
  }
};

int win_lock(int type, int rank, int assertion, MPI_Win win) {
  if (type == MPI_LOCK_EXCLUSIVE) spoil(kAtomics);
  return PMPI_Win_lock(type, rank, assertion, win);
}

}  // namespace

const std::vector<Version>& not_recorded() {
  static const std::vector<Version> all{
      version("MPI_Fetch_and_op", &Spoiling<&PMPI_Fetch_and_op, kAtomics>::call),
      version("MPI_Compare_and_swap", &Spoiling<&PMPI_Compare_and_swap, kAtomics>::call),
      version("MPI_Get_accumulate", &Spoiling<&PMPI_Get_accumulate, kAtomics>::call),
      version("MPI_Get_accumulate_c", &Spoiling<&PMPI_Get_accumulate_c, kAtomics>::call),
      version("MPI_Rget_accumulate", &Spoiling<&PMPI_Rget_accumulate, kAtomics>::call),
      version("MPI_Rget_accumulate_c", &Spoiling<&PMPI_Rget_accumulate_c, kAtomics>::call),
      version("MPI_Win_lock", &win_lock),
      version("MPI_File_read_shared", &Spoiling<&PMPI_File_read_shared, kSharedFiles>::call),
      version("MPI_File_write_shared", &Spoiling<&PMPI_File_write_shared, kSharedFiles>::call),
      version("MPI_File_iread_shared", &Spoiling<&PMPI_File_iread_shared, kSharedFiles>::call),
      version("MPI_File_iwrite_shared", &Spoiling<&PMPI_File_iwrite_shared, kSharedFiles>::call),
      version("MPI_Comm_spawn", &Spoiling<&PMPI_Comm_spawn, kOtherWorlds>::call),
      version("MPI_Comm_spawn_multiple", &Spoiling<&PMPI_Comm_spawn_multiple, kOtherWorlds>::call),
      version("MPI_Comm_accept", &Spoiling<&PMPI_Comm_accept, kOtherWorlds>::call),
      version("MPI_Comm_connect", &Spoiling<&PMPI_Comm_connect, kOtherWorlds>::call),
      version("MPI_Request_get_status_any", &Spoiling<&PMPI_Request_get_status_any, kStatuses>::call),
      version("MPI_Request_get_status_some", &Spoiling<&PMPI_Request_get_status_some, kStatuses>::call),
  };
  return all;
}

}  // namespace tmpi::replay
