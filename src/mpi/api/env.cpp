// Start and end, versions, clocks, names, memory. MPI report, chapters 9 and 11.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock_watch.hpp"
#include "base/platform.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/base/memory_alignment.hpp"
#include "mpi/base/version.hpp"
#include "mpi/init/lifetime.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/endings.hpp"
#include "mpi/rank/forked.hpp"
#include "mpi/rank/info.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi {
namespace {

// Copies a text with its end into a user's array of `capacity`.
void copy_text(const std::string& text, char* out, int* length, std::size_t capacity) {
  const std::size_t n = std::min(text.size(), capacity - 1);
  std::memcpy(out, text.data(), n);
  out[n] = '\0';
  *length = static_cast<int>(n);
}

Err not_by_a_thread() {
  return fail(MPI_ERR_OTHER,
              "called by a thread that the rank has created; call it in the rank's main thread");
}

int init(const char* name, int required, int* provided) {
  if (in_forked_child()) refuse_in_forked_child(name, EXIT_FAILURE);
  if (calling_rank() == nullptr) {
    if (Err error = start_singleton()) return raise(name, nullptr, error);
  }
  const Frame frame(name);
  Err error = guarded(
      [&] { return frame.caller() != nullptr ? initialize(*frame.caller(), required) : not_by_a_thread(); });
  if (error) return raise(name, nullptr, error);
  if (provided != nullptr) *provided = frame.caller()->thread_level;
  return MPI_SUCCESS;
}

// What any thread may ask at any time, so outside of the frame.
Phase phase() noexcept {
  const Rank* rank = calling_rank();
  return rank == nullptr ? Phase::kBeforeInit : rank->phase.load();
}

Phase world_phase() noexcept {
  const Rank* rank = calling_rank();
  return rank == nullptr ? Phase::kBeforeInit : rank->world_phase.load();
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Init(int*, char***) {
  return init("MPI_Init", MPI_THREAD_SINGLE, nullptr);
}
TMPI_PROFILED(MPI_Init);

int PMPI_Init_thread(int*, char***, int required, int* provided) {
  return init("MPI_Init_thread", required, provided);
}
TMPI_PROFILED(MPI_Init_thread);

int PMPI_Finalize(void) {
  return on_rank("MPI_Finalize", [](Rank& rank) { return finalize(rank); });
}
TMPI_PROFILED(MPI_Finalize);

int PMPI_Initialized(int* flag) {
  *flag = world_phase() != Phase::kBeforeInit;
  return MPI_SUCCESS;
}
TMPI_PROFILED(MPI_Initialized);

int PMPI_Finalized(int* flag) {
  *flag = world_phase() == Phase::kFinalized;
  return MPI_SUCCESS;
}
TMPI_PROFILED(MPI_Finalized);

int PMPI_Abort(MPI_Comm, int errorcode) {
  const int code = (errorcode & 0xff) == 0 ? EXIT_FAILURE : errorcode & 0xff;
  if (in_forked_child()) refuse_in_forked_child(fmt::format("MPI_Abort with code {}", errorcode), code);
  Rank* rank = calling_rank();  // any thread
  if (rank == nullptr) std::exit(code);
  end_job(*rank, errorcode, "rank {} on {} called MPI_Abort with code {}", rank->world_rank, job()->host(),
          errorcode);
  return MPI_SUCCESS;
}
TMPI_PROFILED(MPI_Abort);

int PMPI_Query_thread(int* provided) {
  if (phase() != Phase::kInitialized) return raise_not_initialized("MPI_Query_thread");
  if (Err error = check_pointer(provided, "provided")) return raise("MPI_Query_thread", nullptr, error);
  *provided = calling_rank()->thread_level;
  return MPI_SUCCESS;
}
TMPI_PROFILED(MPI_Query_thread);

int PMPI_Is_thread_main(int* flag) {
  if (phase() != Phase::kInitialized) return raise_not_initialized("MPI_Is_thread_main");
  if (Err error = check_pointer(flag, "flag")) return raise("MPI_Is_thread_main", nullptr, error);
  *flag = is_main_flow();
  return MPI_SUCCESS;
}
TMPI_PROFILED(MPI_Is_thread_main);

int PMPI_Get_version(int* version, int* subversion) {
  return anywhere("MPI_Get_version", [&]() -> Err {
    TMPI_TRY(check_pointer(version, "version"));
    TMPI_TRY(check_pointer(subversion, "subversion"));
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Get_version);

int PMPI_Abi_get_version(int* abi_major, int* abi_minor) {
  return anywhere("MPI_Abi_get_version", [&]() -> Err {
    TMPI_TRY(check_pointer(abi_major, "abi_major"));
    TMPI_TRY(check_pointer(abi_minor, "abi_minor"));
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Abi_get_version);

int PMPI_Get_library_version(char* version, int* resultlen) {
  return anywhere("MPI_Get_library_version", [&]() -> Err {
    TMPI_TRY(check_pointer(version, "version"));
    TMPI_TRY(check_pointer(resultlen, "resultlen"));
    copy_text(library_version(), version, resultlen, MPI_MAX_LIBRARY_VERSION_STRING);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Get_library_version);

int PMPI_Get_processor_name(char* name, int* resultlen) {
  return on_rank("MPI_Get_processor_name", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(name, "name"));
    TMPI_TRY(check_pointer(resultlen, "resultlen"));
    copy_text(job()->host(), name, resultlen, MPI_MAX_PROCESSOR_NAME);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Get_processor_name);

double PMPI_Wtime(void) {
  tmpi::note_clock_reading();
  return tmpi::timers::wtime();
}
TMPI_PROFILED(MPI_Wtime);

double PMPI_Wtick(void) {
  return tmpi::timers::wtick();
}
TMPI_PROFILED(MPI_Wtick);

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  return on_rank("MPI_Alloc_mem", [&](Rank&) -> Err {
    if (size < 0) return fail(MPI_ERR_ARG, "size is {}: it must not be negative", size);
    TMPI_TRY(check_pointer(baseptr, "baseptr"));
    const Info* hints = nullptr;
    TMPI_TRY(hints_from(info, hints));
    const std::size_t alignment = memory_alignment(*hints, tmpi::kCacheLine);  // also the widest vector
    const std::size_t bytes = (static_cast<std::size_t>(size) + alignment - 1) / alignment * alignment;
    const SavingCallbacks* const saving = callbacks().saving;
    void* memory =
        saving != nullptr ? saving->allocate(alignment, bytes) : std::aligned_alloc(alignment, bytes);
    if (memory == nullptr && size > 0) return fail(MPI_ERR_NO_MEM, "no memory for {} bytes", size);
    std::memcpy(baseptr, &memory, sizeof memory);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Alloc_mem);

int PMPI_Free_mem(void* base) {
  return on_rank("MPI_Free_mem", [&](Rank&) -> Err {
    const SavingCallbacks* const saving = callbacks().saving;
    saving != nullptr ? saving->release(base) : std::free(base);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Free_mem);

int PMPI_Pcontrol(const int, ...) {
  return MPI_SUCCESS;
}  // without a profiling library there is nothing to control (MPI report, 15.2.4)
TMPI_PROFILED(MPI_Pcontrol);

int PMPIX_Yield(void) {
  const Frame frame("MPIX_Yield");
  if (frame.caller() != nullptr) tmpi::sched::yield();
  return MPI_SUCCESS;
}
TMPI_PROFILED(MPIX_Yield);
