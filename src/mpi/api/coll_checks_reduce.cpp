// Argument checks of the reductions.
#include "mpi/api/coll_checks.hpp"

namespace tmpi::mpi {
namespace {

// A member that gets no result: its recvbuf does not matter. The vector's length and type are the same
// everywhere.
Err check_send_only(Args& args, const void* sendbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  TMPI_TRY(check_side(args.send, sendbuf, count, datatype, "sendbuf"));
  TMPI_TRY(check_operator(op, *args.send.type, args.op));
  args.recv = {.data = nullptr, .count = count, .type = args.send.type};
  return kOk;
}

// The root of an intercommunicator, which contributes nothing.
Err check_receive_only(Args& args, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  TMPI_TRY(check_side(args.recv, recvbuf, count, datatype, "recvbuf"));
  return check_operator(op, *args.recv.type, args.op);
}

// The vector that is reduced before its parts are dealt out.
Err check_total(Numbers counts, int members, const Datatype& type) {
  MPI_Count total = 0;
  for (int i = 0; i < members; ++i) {
    if (__builtin_add_overflow(total, counts[i], &total)) return uncountable(counts[i], type);
  }
  return countable(total, type) ? kOk : uncountable(total, type);
}

}  // namespace

Err check_reduce(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, int root) {
  args.collective = Collective::kReduce;
  args.root = root;
  TMPI_TRY(check_root(c, root));
  const Role role = role_of(c, root);
  if (role.root && role.member) return check_reduction(args, sendbuf, recvbuf, count, datatype, op);
  if (role.member) return check_send_only(args, sendbuf, count, datatype, op);
  return role.root ? check_receive_only(args, recvbuf, count, datatype, op) : kOk;
}

Err check_allreduce(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op) {
  args.collective = Collective::kAllreduce;
  TMPI_TRY(check_in_place(c, sendbuf == MPI_IN_PLACE));
  return check_reduction(args, sendbuf, recvbuf, count, datatype, op);
}

Err check_scan(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count count,
               MPI_Datatype datatype, MPI_Op op) {
  args.collective = Collective::kScan;
  TMPI_TRY(check_intra(c));
  return check_reduction(args, sendbuf, recvbuf, count, datatype, op);
}

Err check_exscan(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op) {
  args.collective = Collective::kExscan;
  TMPI_TRY(check_intra(c));
  const bool receives = c.rank != 0 || sendbuf == MPI_IN_PLACE;
  return receives ? check_reduction(args, sendbuf, recvbuf, count, datatype, op)
                  : check_send_only(args, sendbuf, count, datatype, op);
}

Err check_reduce_scatter(Comm& c, Args& args, const void* sendbuf, void* recvbuf, Numbers recvcounts,
                         MPI_Datatype datatype, MPI_Op op) {
  args.collective = Collective::kReduceScatter;
  TMPI_TRY(check_in_place(c, sendbuf == MPI_IN_PLACE));
  args.ragged = true;
  if (!recvcounts) return null_pointer("recvcounts");
  for (int i = 0; i < c.size; ++i) TMPI_TRY(check_count(recvcounts[i]));
  TMPI_TRY(check_reduction(args, sendbuf, recvbuf, recvcounts[c.rank], datatype, op));
  TMPI_TRY(check_total(recvcounts, c.size, *args.recv.type));
  args.recv.counts = recvcounts;
  args.recv.chunks = c.size;
  return kOk;
}

Err check_reduce_scatter_block(Comm& c, Args& args, const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                               MPI_Datatype datatype, MPI_Op op) {
  args.collective = Collective::kReduceScatter;
  TMPI_TRY(check_in_place(c, sendbuf == MPI_IN_PLACE));
  TMPI_TRY(check_reduction(args, sendbuf, recvbuf, recvcount, datatype, op));
  return check_shares(recvcount, *args.recv.type, c.size);
}

}  // namespace tmpi::mpi
