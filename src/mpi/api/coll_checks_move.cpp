// Argument checks of the collectives that move data.
#include "mpi/api/coll_checks.hpp"

namespace tmpi::mpi {

Err check_barrier(Comm&, Args& args) {
  args.collective = Collective::kBarrier;
  return kOk;
}

Err check_bcast(Comm& c, Args& args, void* buffer, MPI_Count count, MPI_Datatype datatype, int root) {
  args.collective = Collective::kBcast;
  args.root = root;
  TMPI_TRY(check_root(c, root));
  if (root == MPI_PROC_NULL) return kOk;
  return check_side(args.recv, buffer, count, datatype, "buffer");
}

Err check_gather(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root) {
  args.collective = Collective::kGather;
  args.root = root;
  TMPI_TRY(check_root(c, root));
  const Role role = role_of(c, root);
  args.in_place = role.root && role.member && sendbuf == MPI_IN_PLACE;
  if (role.member && !args.in_place)
    TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, c.size, "sendbuf"));
  if (role.root) TMPI_TRY(check_side(args.recv, recvbuf, recvcount, recvtype, c.peers, "recvbuf"));
  return role.root && role.member && !args.in_place ? check_distinct(args.send, args.recv) : kOk;
}

Err check_gatherv(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, Numbers recvcounts, Numbers displs, MPI_Datatype recvtype, int root) {
  args.collective = Collective::kGather;
  args.ragged = true;
  args.root = root;
  TMPI_TRY(check_root(c, root));
  const Role role = role_of(c, root);
  args.in_place = role.root && role.member && sendbuf == MPI_IN_PLACE;
  if (role.member && !args.in_place) TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, "sendbuf"));
  return role.root ? check_chunks(args.recv, recvbuf, recvcounts, displs, recvtype, c.peers, "recvbuf") : kOk;
}

Err check_scatter(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root) {
  args.collective = Collective::kScatter;
  args.root = root;
  TMPI_TRY(check_root(c, root));
  const Role role = role_of(c, root);
  args.in_place = role.root && role.member && recvbuf == MPI_IN_PLACE;
  if (role.member && !args.in_place)
    TMPI_TRY(check_side(args.recv, recvbuf, recvcount, recvtype, c.size, "recvbuf"));
  if (role.root) TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, c.peers, "sendbuf"));
  return role.root && role.member && !args.in_place ? check_distinct(args.send, args.recv) : kOk;
}

Err check_scatterv(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers displs,
                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root) {
  args.collective = Collective::kScatter;
  args.ragged = true;
  args.root = root;
  TMPI_TRY(check_root(c, root));
  const Role role = role_of(c, root);
  args.in_place = role.root && role.member && recvbuf == MPI_IN_PLACE;
  if (role.member && !args.in_place) TMPI_TRY(check_side(args.recv, recvbuf, recvcount, recvtype, "recvbuf"));
  return role.root ? check_chunks(args.send, sendbuf, sendcounts, displs, sendtype, c.peers, "sendbuf") : kOk;
}

Err check_allgather(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype) {
  args.collective = Collective::kAllgather;
  args.in_place = sendbuf == MPI_IN_PLACE;
  TMPI_TRY(check_in_place(c, args.in_place));
  TMPI_TRY(check_side(args.recv, recvbuf, recvcount, recvtype, c.peers, "recvbuf"));
  if (args.in_place) return kOk;
  TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, c.size, "sendbuf"));
  return check_distinct(args.send, args.recv);
}

Err check_allgatherv(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                     void* recvbuf, Numbers recvcounts, Numbers displs, MPI_Datatype recvtype) {
  args.collective = Collective::kAllgather;
  args.ragged = true;
  args.in_place = sendbuf == MPI_IN_PLACE;
  TMPI_TRY(check_in_place(c, args.in_place));
  TMPI_TRY(check_chunks(args.recv, recvbuf, recvcounts, displs, recvtype, c.peers, "recvbuf"));
  return args.in_place ? kOk : check_side(args.send, sendbuf, sendcount, sendtype, "sendbuf");
}

Err check_alltoall(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype) {
  TMPI_TRY(check_allgather(c, args, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
  args.collective = Collective::kAlltoall;
  return kOk;
}

Err check_alltoallv(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
                    MPI_Datatype sendtype, void* recvbuf, Numbers recvcounts, Numbers rdispls,
                    MPI_Datatype recvtype) {
  args.collective = Collective::kAlltoall;
  args.ragged = true;
  args.in_place = sendbuf == MPI_IN_PLACE;
  TMPI_TRY(check_in_place(c, args.in_place));
  TMPI_TRY(check_chunks(args.recv, recvbuf, recvcounts, rdispls, recvtype, c.peers, "recvbuf"));
  if (args.in_place) return kOk;
  return check_chunks(args.send, sendbuf, sendcounts, sdispls, sendtype, c.peers, "sendbuf");
}

Err check_alltoallw(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
                    const MPI_Datatype sendtypes[], void* recvbuf, Numbers recvcounts, Numbers rdispls,
                    const MPI_Datatype recvtypes[]) {
  args.collective = Collective::kAlltoall;
  args.ragged = true;
  args.in_place = sendbuf == MPI_IN_PLACE;
  TMPI_TRY(check_in_place(c, args.in_place));
  TMPI_TRY(check_typed_chunks(args.recv, recvbuf, recvcounts, rdispls, recvtypes, c.peers, "recvbuf"));
  if (args.in_place) return kOk;
  return check_typed_chunks(args.send, sendbuf, sendcounts, sdispls, sendtypes, c.peers, "sendbuf");
}

}  // namespace tmpi::mpi
