// MPI_Pack, MPI_Unpack, MPI_Pack_size, and the same in the external32 representation. MPI report, 5.2, 5.3.
// The packed form of the first three is the bytes of the type map in order, without a header, so that a
// packed message matches a receive of its type and the other way round.
#include <cstring>

#include "mpi/api/counted/counted.hpp"
#include "mpi/api/datatype_calls.hpp"
#include "mpi/datatype/external.hpp"

namespace tmpi::mpi {
namespace {

constexpr bool kPacking = true;
constexpr bool kUnpacking = false;

/// The bytes of `count` elements of `unit` packed bytes, if the buffer has them from `position` on.
Err check_room(bool packing, MPI_Count size, MPI_Count position, MPI_Count count, MPI_Count unit,
               MPI_Count& bytes) {
  if (size < 0)
    return fail(MPI_ERR_ARG, "the size of the packed buffer is {}: it must not be negative", size);
  if (position < 0 || position > size)
    return fail(MPI_ERR_ARG, "position is {}, outside the packed buffer of {} bytes", position, size);
  if (!__builtin_mul_overflow(count, unit, &bytes) && bytes <= size - position) return kOk;
  return fail(
      MPI_ERR_TRUNCATE,
      "{} {} elements of {} bytes at position {} goes past the end of the packed buffer of {} bytes; {}",
      packing ? "packing" : "unpacking", count, unit, position, size,
      packing ? "MPI_Pack_size (MPI_Pack_external_size) tells how much a message needs"
              : "unpack with the counts and types that were packed");
}

/// `count` elements of `unit` bytes for an output argument; MPI_UNDEFINED if that does not fit.
template <class Size>
Size packed_size(MPI_Count count, MPI_Count unit) noexcept {
  MPI_Count bytes = 0;
  return __builtin_mul_overflow(count, unit, &bytes) ? Size{MPI_UNDEFINED} : narrowed<Size>(bytes);
}

Err check_representation(const char* datarep) {
  TMPI_TRY(check_pointer(datarep, "datarep"));
  if (std::strcmp(datarep, "external32") == 0) return kOk;
  return fail(MPI_ERR_UNSUPPORTED_DATAREP, "datarep is \"{}\": only \"external32\" is supported here",
              datarep);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int TMPI_COUNTED(Pack)(const void* inbuf, Count incount, MPI_Datatype datatype, void* outbuf, Count outsize,
                       Count* position, MPI_Comm comm) {
  return on_comm(TMPI_COUNTED_NAME(Pack), comm, [&](Comm&) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(inbuf, incount, datatype, type));
    TMPI_TRY(check_pointer(position, "position"));
    MPI_Count bytes = 0;
    TMPI_TRY(check_room(kPacking, outsize, *position, incount, type->size(), bytes));
    if (bytes > 0) TMPI_TRY(check_pointer(outbuf, "outbuf"));
    pack_segment(static_cast<char*>(outbuf) + *position, inbuf, incount, *type, 0, bytes);
    *position += static_cast<Count>(bytes);
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Pack);

int TMPI_COUNTED(Unpack)(const void* inbuf, Count insize, Count* position, void* outbuf, Count outcount,
                         MPI_Datatype datatype, MPI_Comm comm) {
  return on_comm(TMPI_COUNTED_NAME(Unpack), comm, [&](Comm&) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(outbuf, outcount, datatype, type));
    TMPI_TRY(check_pointer(position, "position"));
    MPI_Count bytes = 0;
    TMPI_TRY(check_room(kUnpacking, insize, *position, outcount, type->size(), bytes));
    if (bytes > 0) TMPI_TRY(check_pointer(inbuf, "inbuf"));
    unpack_segment(outbuf, outcount, *type, static_cast<const char*>(inbuf) + *position, 0, bytes);
    *position += static_cast<Count>(bytes);
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Unpack);

int TMPI_COUNTED(Pack_size)(Count incount, MPI_Datatype datatype, MPI_Comm comm, Count* size) {
  return on_comm(TMPI_COUNTED_NAME(Pack_size), comm, [&](Comm&) -> Err {
    TMPI_TRY(check_count(incount));
    Datatype* type = nullptr;
    TMPI_TRY(check_type(datatype, type));
    TMPI_TRY(check_pointer(size, "size"));
    *size = packed_size<Count>(incount, type->size());
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Pack_size);

int TMPI_COUNTED(Pack_external)(const char* datarep, const void* inbuf, Count incount, MPI_Datatype datatype,
                                void* outbuf, ByteCount outsize, ByteCount* position) {
  return on_rank(TMPI_COUNTED_NAME(Pack_external), [&](Rank&) -> Err {
    TMPI_TRY(check_representation(datarep));
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(inbuf, incount, datatype, type));
    TMPI_TRY(check_pointer(position, "position"));
    MPI_Count bytes = 0;
    TMPI_TRY(check_room(kPacking, outsize, *position, incount, external_size(*type), bytes));
    if (bytes > 0) TMPI_TRY(check_pointer(outbuf, "outbuf"));
    TMPI_TRY(pack_external(static_cast<char*>(outbuf) + *position, inbuf, incount, *type));
    *position += bytes;
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Pack_external);

int TMPI_COUNTED(Unpack_external)(const char datarep[], const void* inbuf, ByteCount insize,
                                  ByteCount* position, void* outbuf, Count outcount, MPI_Datatype datatype) {
  return on_rank(TMPI_COUNTED_NAME(Unpack_external), [&](Rank&) -> Err {
    TMPI_TRY(check_representation(datarep));
    Datatype* type = nullptr;
    TMPI_TRY(check_buffer(outbuf, outcount, datatype, type));
    TMPI_TRY(check_pointer(position, "position"));
    MPI_Count bytes = 0;
    TMPI_TRY(check_room(kUnpacking, insize, *position, outcount, external_size(*type), bytes));
    if (bytes > 0) TMPI_TRY(check_pointer(inbuf, "inbuf"));
    unpack_external(outbuf, outcount, *type, static_cast<const char*>(inbuf) + *position);
    *position += bytes;
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Unpack_external);

int TMPI_COUNTED(Pack_external_size)(const char* datarep, Count incount, MPI_Datatype datatype,
                                     ByteCount* size) {
  return on_rank(TMPI_COUNTED_NAME(Pack_external_size), [&](Rank&) -> Err {
    TMPI_TRY(check_representation(datarep));
    TMPI_TRY(check_count(incount));
    Datatype* type = nullptr;
    TMPI_TRY(check_type(datatype, type));
    TMPI_TRY(check_pointer(size, "size"));
    *size = packed_size<ByteCount>(incount, external_size(*type));
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Pack_external_size);
