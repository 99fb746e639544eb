// Reduce along a binomial tree. The tree's root is the collective's, or rank 0 if the operator does not
// commute, so that every subtree is a run of ranks.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

Err reduce_binomial(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Messages messages(comm, args);
  const int top = args.op->commutative ? args.root : 0;
  const BinomialTree tree(comm.rank, top, comm.size);
  const bool at_root = comm.rank == args.root;
  Accumulator accumulator(args, args.recv.count, at_root ? args.recv.data : nullptr);
  tree.nearest_first([&](int child, int) {
    messages.recv(accumulator.incoming(), tree.rank_of(child));
    accumulator.fold_upper();
  });
  if (!tree.is_root()) messages.send(accumulator.value(), tree.parent());
  if (top != args.root) {
    if (tree.is_root()) messages.send(accumulator.value(), args.root);
    if (at_root) messages.recv(accumulator.value(), top);
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kReduceBinomial{
    .collective = Collective::kReduce, .name = "binomial", .forms = {.run = reduce_binomial}};

}  // namespace tmpi::mpi
