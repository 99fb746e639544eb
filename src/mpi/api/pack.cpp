// MPI_Pack, MPI_Unpack, MPI_Pack_size. MPI report, 5.2. The packed form is the bytes of the type map in
// order, without a header, so that a packed message matches a receive of its type and the other way round.
#include "mpi/api/profiled.hpp"
#include "mpi/core/call.hpp"
#include "mpi/core/check.hpp"
#include "mpi/datatype/datatype.hpp"

using namespace tmpi::mpi;

namespace {

/// The bytes of the message, if the buffer has them from `position` on.
template <class I>
Err check_room(const char* what, I size, const I* position, MPI_Count count, const Datatype& type,
               MPI_Count& bytes) {
  TMPI_TRY(check_pointer(position, "position"));
  if (size < 0)
    return fail(MPI_ERR_ARG, "the size of the packed buffer is {}: it must not be negative", size);
  if (*position < 0 || *position > size)
    return fail(MPI_ERR_ARG, "position is {}, outside the packed buffer of {} bytes", *position, size);
  if (!__builtin_mul_overflow(count, type.size(), &bytes) && bytes <= size - *position) return kOk;
  return fail(
      MPI_ERR_TRUNCATE,
      "{} {} elements of {} bytes at position {} goes past the end of the packed buffer of {} bytes; {}",
      what, count, type.size(), *position, size,
      what[0] == 'p' ? "MPI_Pack_size tells how much a message needs"
                     : "unpack with the counts and types that were packed");
}

template <class I>
int pack(const char* name, const void* inbuf, I count, MPI_Datatype datatype, void* outbuf, I outsize,
         I* position, MPI_Comm comm) {
  return on_comm(name, comm, [&](Comm&) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(inbuf, count, datatype, type));
    MPI_Count bytes = 0;
    TMPI_TRY(check_room("packing", outsize, position, count, *type, bytes));
    if (bytes > 0) TMPI_TRY(check_pointer(outbuf, "outbuf"));
    pack_segment(static_cast<char*>(outbuf) + *position, inbuf, count, *type, 0, bytes);
    *position = static_cast<I>(*position + bytes);
    return kOk;
  });
}

template <class I>
int unpack(const char* name, const void* inbuf, I insize, I* position, void* outbuf, I count,
           MPI_Datatype datatype, MPI_Comm comm) {
  return on_comm(name, comm, [&](Comm&) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(outbuf, count, datatype, type));
    MPI_Count bytes = 0;
    TMPI_TRY(check_room("unpacking", insize, position, count, *type, bytes));
    if (bytes > 0) TMPI_TRY(check_pointer(inbuf, "inbuf"));
    unpack_segment(outbuf, count, *type, static_cast<const char*>(inbuf) + *position, 0, bytes);
    *position = static_cast<I>(*position + bytes);
    return kOk;
  });
}

template <class I>
int pack_size(const char* name, I count, MPI_Datatype datatype, MPI_Comm comm, I* size) {
  return on_comm(name, comm, [&](Comm&) -> Err {
    TMPI_TRY(check_count(count));
    Datatype* type = nullptr;
    TMPI_TRY(check_type(datatype, type));
    TMPI_TRY(check_pointer(size, "size"));
    MPI_Count bytes = 0;
    const bool fits = !__builtin_mul_overflow(count, type->size(), &bytes) && static_cast<I>(bytes) == bytes;
    *size = fits ? static_cast<I>(bytes) : static_cast<I>(MPI_UNDEFINED);
    return kOk;
  });
}

}  // namespace

int PMPI_Pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position,
              MPI_Comm comm) {
  return pack("MPI_Pack", inbuf, incount, datatype, outbuf, outsize, position, comm);
}
TMPI_PROFILED(MPI_Pack);
int PMPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
                MPI_Count* position, MPI_Comm comm) {
  return pack("MPI_Pack_c", inbuf, incount, datatype, outbuf, outsize, position, comm);
}
TMPI_PROFILED(MPI_Pack_c);

int PMPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm) {
  return unpack("MPI_Unpack", inbuf, insize, position, outbuf, outcount, datatype, comm);
}
TMPI_PROFILED(MPI_Unpack);
int PMPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
                  MPI_Datatype datatype, MPI_Comm comm) {
  return unpack("MPI_Unpack_c", inbuf, insize, position, outbuf, outcount, datatype, comm);
}
TMPI_PROFILED(MPI_Unpack_c);

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  return pack_size("MPI_Pack_size", incount, datatype, comm, size);
}
TMPI_PROFILED(MPI_Pack_size);
int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
  return pack_size("MPI_Pack_size_c", incount, datatype, comm, size);
}
TMPI_PROFILED(MPI_Pack_size_c);
