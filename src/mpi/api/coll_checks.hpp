// Argument checks of the collective calls. For each collective one function, shared by its blocking,
// nonblocking and persistent form in both widths of counts: it checks what the user passed and fills Args
// (mpi/coll/args.hpp) with it. MPI report, chapter 6. None suspends.
#pragma once

#include "mpi/coll/args.hpp"
#include "mpi/comm/check.hpp"
#include "mpi/datatype/check.hpp"

namespace tmpi::mpi {

Err check_barrier(Comm& c, Args& args);
Err check_bcast(Comm& c, Args& args, void* buffer, MPI_Count count, MPI_Datatype datatype, int root);
Err check_gather(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root);
Err check_gatherv(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, Numbers recvcounts, Numbers displs, MPI_Datatype recvtype, int root);
Err check_scatter(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root);
Err check_scatterv(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers displs,
                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root);
Err check_allgather(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype);
Err check_allgatherv(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                     void* recvbuf, Numbers recvcounts, Numbers displs, MPI_Datatype recvtype);
Err check_alltoall(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype);
Err check_alltoallv(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
                    MPI_Datatype sendtype, void* recvbuf, Numbers recvcounts, Numbers rdispls,
                    MPI_Datatype recvtype);
Err check_alltoallw(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
                    const MPI_Datatype sendtypes[], void* recvbuf, Numbers recvcounts, Numbers rdispls,
                    const MPI_Datatype recvtypes[]);
Err check_reduce(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, int root);
Err check_allreduce(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op);
Err check_scan(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count count,
               MPI_Datatype datatype, MPI_Op op);
Err check_exscan(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op);
Err check_reduce_scatter(Comm& c, Args& args, const void* sendbuf, void* recvbuf, Numbers recvcounts,
                         MPI_Datatype datatype, MPI_Op op);
Err check_reduce_scatter_block(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                               MPI_Datatype datatype, MPI_Op op);
Err check_neighbor_allgather(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount,
                             MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                             MPI_Datatype recvtype);
Err check_neighbor_allgatherv(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount,
                              MPI_Datatype sendtype, void* recvbuf, Numbers recvcounts, Numbers displs,
                              MPI_Datatype recvtype);
Err check_neighbor_alltoall(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount,
                            MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype);
Err check_neighbor_alltoallv(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
                             MPI_Datatype sendtype, void* recvbuf, Numbers recvcounts, Numbers rdispls,
                             MPI_Datatype recvtype);
Err check_neighbor_alltoallw(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
                             const MPI_Datatype sendtypes[], void* recvbuf, Numbers recvcounts,
                             Numbers rdispls, const MPI_Datatype recvtypes[]);

// What those are made of.

/// What a member does in a collective with a root: is it the root, and does it take part with data of its
/// own, as all members of an intracommunicator do? Of an intercommunicator's groups, one has the root (which
/// passed MPI_ROOT, the others MPI_PROC_NULL), the other one takes part.
struct Role {
  bool root;
  bool member;
};
inline Role role_of(const Comm& c, int root) {
  return c.inter() ? Role{root == MPI_ROOT, root >= 0} : Role{c.rank == root, true};
}
[[gnu::cold]] Err in_place_between_groups();
[[gnu::cold]] Err not_between_groups();
/// MPI_IN_PLACE is for intracommunicators.
inline Err check_in_place(const Comm& c, bool in_place) {
  return in_place && c.inter() ? in_place_between_groups() : kOk;
}
/// Scan and exscan are for intracommunicators.
inline Err check_intra(const Comm& c) {
  return c.inter() ? not_between_groups() : kOk;
}

[[gnu::cold]] Err in_place_not_allowed(const char* argument);
[[gnu::cold]] Err same_buffers();

inline Err check_not_in_place(const void* buffer, const char* argument) {
  return buffer == MPI_IN_PLACE ? in_place_not_allowed(argument) : kOk;
}

/// A buffer of `count` elements, for whole() or (regular collectives) one chunk per member.
[[gnu::always_inline]] inline Err check_side(Side& side, const void* buffer, MPI_Count count,
                                             MPI_Datatype handle, const char* argument) {
  TMPI_TRY(check_not_in_place(buffer, argument));
  Datatype* type;
  TMPI_TRY(check_buffer(buffer, count, handle, type));
  side.data = const_cast<void*>(buffer);
  side.count = count;
  side.type = type;
  return kOk;
}

/// The same of a regular collective, with `chunks` such buffers one behind the other: all members that know their number
/// and a chunk's size find that too much alike.
Err check_shares(MPI_Count count, const Datatype& type, int chunks);
[[gnu::always_inline]] inline Err check_side(Side& side, const void* buffer, MPI_Count count,
                                             MPI_Datatype handle, int chunks, const char* argument) {
  TMPI_TRY(check_side(side, buffer, count, handle, argument));
  return check_shares(count, *side.type, chunks);
}

/// The same for the v-variants: counts and displacements of `members` chunks of one type.
Err check_chunks(Side& side, const void* buffer, Numbers counts, Numbers displs, MPI_Datatype handle,
                 int members, const char* argument);
/// And for the w-variants: a type for each chunk, displacements in bytes.
Err check_typed_chunks(Side& side, const void* buffer, Numbers counts, Numbers displs,
                       const MPI_Datatype types[], int members, const char* argument);

/// Send and receive buffer of one member must not be the same; noticed where it costs nothing (MPI
/// report, 6.1 and 2.3).
inline Err check_distinct(const Side& send, const Side& recv) {
  const bool same = send.data == recv.data && send.count > 0 && recv.count > 0 && send.data != nullptr;
  return same && send.type->contiguous() && recv.type->contiguous() && send.type->size() > 0 ? same_buffers()
                                                                                             : kOk;
}

/// An operator, defined on the type.
Err check_operator(MPI_Op handle, const Datatype& type, const Op*& op);

/// Both buffers of a reduction in which this member sends and receives `count` elements; sendbuf may be
/// MPI_IN_PLACE.
Err check_reduction(Args& args, const void* sendbuf, const void* recvbuf, MPI_Count count,
                    MPI_Datatype handle, MPI_Op op);

}  // namespace tmpi::mpi
