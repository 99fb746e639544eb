// MPI_Psend_init, MPI_Precv_init. MPI report, 4.2.
#include "mpi/p2p/partitioned.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "mpi/api/counted/counted.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

Err check_partitions(int partitions, MPI_Count count, const Datatype& type) {
  if (partitions < 0) return fail(MPI_ERR_ARG, "partitions is {}: it must not be negative", partitions);
  MPI_Count elements = 0;
  if (!__builtin_mul_overflow(partitions, count, &elements) && countable(elements, type)) return kOk;
  return fail(MPI_ERR_COUNT, "{} partitions of {} elements exceed what MPI_Count can hold", partitions,
              count);
}

Err psend_init(Comm& c, const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
               int tag, MPI_Request* request) {
  TMPI_TRY(check_pointer(request, "request"));
  Datatype* type = nullptr;
  TMPI_TRY(check_send(c, buf, count, datatype, dest, tag, type));
  TMPI_TRY(check_partitions(partitions, count, *type));
  *request =
      handle_of(create_partitioned_send(c, {const_cast<void*>(buf), partitions, count, *type}, dest, tag));
  return kOk;
}

Err precv_init(Comm& c, void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
               int tag, MPI_Request* request) {
  TMPI_TRY(check_pointer(request, "request"));
  Datatype* type = nullptr;
  TMPI_TRY(check_recv(c, buf, count, datatype, source, tag, type));
  if (source == MPI_ANY_SOURCE)
    return fail(MPI_ERR_RANK, "a partitioned receive names its source: MPI_ANY_SOURCE is not allowed");
  if (tag == MPI_ANY_TAG)
    return fail(MPI_ERR_TAG, "a partitioned receive names its tag: MPI_ANY_TAG is not allowed");
  TMPI_TRY(check_partitions(partitions, count, *type));
  *request = handle_of(create_partitioned_recv(c, {buf, partitions, count, *type}, source, tag));
  return kOk;
}

#ifndef TMPI_LARGE_COUNTS

/// True if the process can read the last byte of that many elements.
bool has_memory_for(const void* buf, int partitions, MPI_Count count, MPI_Datatype handle) {
  Datatype* type = nullptr;
  if (check_type(handle, type) || partitions < 1 || type->size() == 0) return false;
  MPI_Count elements = 0, bytes = 0;
  if (__builtin_mul_overflow(partitions, count, &elements) ||
      __builtin_mul_overflow(elements, type->extent(), &bytes) || bytes <= 0)
    return false;
  const std::uint64_t last =
      reinterpret_cast<std::uint64_t>(buf) + static_cast<std::uint64_t>(type->lb() + bytes - 1);
  std::byte byte{};
  const iovec here{&byte, 1}, there{reinterpret_cast<void*>(last), 1};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

/// The count of a caller to whom it is an int, or an MPI_Count: MPI 4.0 had no large-count forms of these functions and
/// MPI_Count in their only ones; the errata made it int, and headers differ (docs/reference/abi.md). A caller with int
/// fills half of the register and leaves the rest undefined, a zero mostly. So a word that is no int is a count if
/// there is memory for so much, and else an int with something above it.
MPI_Count count_of_either(MPI_Count word, const void* buf, int partitions, MPI_Datatype datatype) {
  const int narrow = static_cast<int>(word);
  if (word == narrow) [[likely]]
    return word;
  return word > 0 && has_memory_for(buf, partitions, word, datatype) ? word : narrow;
}

#endif

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

#ifdef TMPI_LARGE_COUNTS

int PMPI_Psend_init_c(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
                      int tag, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return on_comm("MPI_Psend_init_c", comm, [&](Comm& c) {
    return psend_init(c, buf, partitions, count, datatype, dest, tag, request);
  });
}
TMPI_PROFILED(MPI_Psend_init_c);

int PMPI_Precv_init_c(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return on_comm("MPI_Precv_init_c", comm, [&](Comm& c) {
    return precv_init(c, buf, partitions, count, datatype, source, tag, request);
  });
}
TMPI_PROFILED(MPI_Precv_init_c);

#else

// Under the names of the functions, whose declarations have int: what TMPI_PROFILED() does elsewhere is written out.
extern "C" {
int psend_init_of_either(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
                         int tag, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) __asm__("PMPI_Psend_init")
    __attribute__((visibility("default")));
int precv_init_of_either(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
                         int tag, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) __asm__("PMPI_Precv_init")
    __attribute__((visibility("default")));
}

int psend_init_of_either(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
                         int tag, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return on_comm("MPI_Psend_init", comm, [&](Comm& c) {
    return psend_init(c, buf, partitions, count_of_either(count, buf, partitions, datatype), datatype, dest,
                      tag, request);
  });
}
extern "C" decltype(psend_init_of_either) psend_init_for_profiling __asm__("MPI_Psend_init")
    __attribute__((weak, alias("PMPI_Psend_init"), visibility("default")));

int precv_init_of_either(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
                         int tag, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return on_comm("MPI_Precv_init", comm, [&](Comm& c) {
    return precv_init(c, buf, partitions, count_of_either(count, buf, partitions, datatype), datatype, source,
                      tag, request);
  });
}
extern "C" decltype(precv_init_of_either) precv_init_for_profiling __asm__("MPI_Precv_init")
    __attribute__((weak, alias("PMPI_Precv_init"), visibility("default")));

#endif
