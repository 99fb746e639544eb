#include "mpi/api/coll_checks.hpp"

namespace tmpi::mpi {
namespace {

Err check_counts(Numbers counts, Numbers displs, int members, const char* argument) {
  if (members > 0 && (!counts || !displs))
    return fail(MPI_ERR_ARG, "the counts or displacements of {} are NULL", argument);
  if (!counts.any_negative(members)) return kOk;
  int first = 0;
  while (counts[first] >= 0) ++first;
  return fail(MPI_ERR_COUNT, "the count of {} for rank {} is {}: it must not be negative", argument, first,
              counts[first]);
}

// The total of all chunks, and where each lies, can be counted. Mostly a glance at the bits of all numbers is enough.
Err check_reach(const Side& side, int members) {
  const Datatype& type = *side.type;
  const MPI_Count most = side.counts.bits(members), furthest = side.displs.bits(members);
  MPI_Count all, reach;
  if (furthest >= 0 && !__builtin_mul_overflow(most, members, &all) &&
      !__builtin_add_overflow(all, furthest, &reach) && countable(reach, type)) [[likely]]
    return kOk;
  MPI_Count total = 0;
  for (int i = 0; i < members; ++i) {
    if (side.counts[i] == 0) continue;
    MPI_Count at, end;
    if (__builtin_add_overflow(total, side.counts[i], &total) || !countable(total, type))
      return fail(
          MPI_ERR_COUNT,
          "the counts up to that of rank {}, {} elements of {} bytes, add up to more than MPI_Count can hold "
          "(2^63 - 1 bytes)",
          i, side.counts[i], type.size());
    if (__builtin_mul_overflow(side.displs[i], type.extent(), &at) ||
        __builtin_mul_overflow(side.counts[i], type.extent(), &end) || __builtin_add_overflow(at, end, &end))
      return fail(
          MPI_ERR_ARG,
          "the displacement of rank {} is {}: so many elements of {} bytes exceed what MPI_Aint can hold", i,
          side.displs[i], type.extent());
  }
  return kOk;
}

}  // namespace

Err check_shares(MPI_Count count, const Datatype& type, int chunks) {
  MPI_Count all;
  if (!__builtin_mul_overflow(count, chunks, &all) && countable(all, type)) [[likely]]
    return kOk;
  return fail(MPI_ERR_COUNT,
              "{} elements of {} bytes for each of {} ranks exceed what MPI_Count can hold (2^63 - 1 bytes); "
              "check the "
              "count for a value that was never set",
              count, type.size(), chunks);
}

Err in_place_not_allowed(const char* argument) {
  return fail(MPI_ERR_BUFFER, "{} is MPI_IN_PLACE, which is not allowed here", argument);
}

Err in_place_between_groups() {
  return fail(
      MPI_ERR_BUFFER,
      "sendbuf is MPI_IN_PLACE, but the communicator is an intercommunicator: what its members send and "
      "receive is different data");
}

Err not_between_groups() {
  return fail(MPI_ERR_COMM,
              "the communicator is an intercommunicator: this collective is defined for one group only; "
              "MPI_Intercomm_merge makes one of both");
}

Err same_buffers() {
  return fail(MPI_ERR_BUFFER,
              "sendbuf and recvbuf are the same: pass MPI_IN_PLACE to use one buffer for both");
}

Err check_chunks(Side& side, const void* buffer, Numbers counts, Numbers displs, MPI_Datatype handle,
                 int members, const char* argument) {
  TMPI_TRY(check_not_in_place(buffer, argument));
  Datatype* type = nullptr;
  TMPI_TRY(check_type(handle, type));
  TMPI_TRY(check_counts(counts, displs, members, argument));
  side.data = const_cast<void*>(buffer);
  side.type = type;
  side.counts = counts;
  side.displs = displs;
  side.chunks = members;
  for (int i = 0; buffer == nullptr && type->predefined() && i < members; ++i) {
    if (counts[i] > 0) return null_buffer(counts[i]);
  }
  return check_reach(side, members);
}

Err check_typed_chunks(Side& side, const void* buffer, Numbers counts, Numbers displs,
                       const MPI_Datatype types[], int members, const char* argument) {
  TMPI_TRY(check_not_in_place(buffer, argument));
  TMPI_TRY(check_counts(counts, displs, members, argument));
  if (members > 0 && types == nullptr) return fail(MPI_ERR_ARG, "the datatypes of {} are NULL", argument);
  MPI_Count total = 0;
  for (int i = 0; i < members; ++i) {
    Datatype* type = nullptr;
    TMPI_TRY(check_type(types[i], type));
    // MPI_BOTTOM is NULL, and a displacement behind it an address (MPI_Neighbor_alltoallw).
    if (buffer == nullptr && displs[i] == 0 && counts[i] > 0 && type->size() > 0 && type->predefined())
      return null_buffer(counts[i]);
    MPI_Count bytes;
    if (!countable(counts[i], *type)) return uncountable(counts[i], *type);
    if (__builtin_mul_overflow(counts[i], type->size(), &bytes) ||
        __builtin_add_overflow(total, bytes, &total))
      return fail(MPI_ERR_COUNT, "the data of {} add up to more bytes than MPI_Count can hold (2^63 - 1)",
                  argument);
  }
  side.data = const_cast<void*>(buffer);
  side.counts = counts;
  side.displs = displs;
  side.types = types;
  side.chunks = members;
  return kOk;
}

Err check_operator(MPI_Op handle, const Datatype& type, const Op*& op) {
  op = op_from(handle);
  if (op == nullptr) {
    return handle == MPI_OP_NULL ? fail(MPI_ERR_OP, "the operator is MPI_OP_NULL: never created, or freed")
                                 : fail(MPI_ERR_OP, "{} is no operator", static_cast<const void*>(handle));
  }
  return check_op(*op, type);
}

Err check_reduction(Args& args, const void* sendbuf, const void* recvbuf, MPI_Count count,
                    MPI_Datatype handle, MPI_Op op) {
  TMPI_TRY(check_side(args.recv, recvbuf, count, handle, "recvbuf"));
  TMPI_TRY(check_operator(op, *args.recv.type, args.op));
  args.in_place = sendbuf == MPI_IN_PLACE;
  if (args.in_place) return kOk;
  TMPI_TRY(check_side(args.send, sendbuf, count, handle, "sendbuf"));
  return check_distinct(args.send, args.recv);
}

}  // namespace tmpi::mpi
