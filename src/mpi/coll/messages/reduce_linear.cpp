// Reduce at the root: all members send their vectors, the root combines them one after the other from the
// highest rank down, x0 op (x1 op (x2 ...)): the order of `segments`.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

Err reduce_linear(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Messages messages(comm, args);
  const MPI_Count count = args.recv.count;
  const Datatype& type = *args.recv.type;
  if (comm.rank != args.root) {
    messages.send({const_cast<std::byte*>(args.input()), count, &type}, args.root);
    return messages.result();
  }
  ElementBuffer result(type, count), incoming(type, count);
  for (int i = comm.size - 1; i >= 0; --i) {
    std::byte* next = (i == comm.size - 1 ? result : incoming).data();
    const std::byte* vector = next;
    if (i == comm.rank) {
      vector = args.input();
      if (next == result.data()) copy_elements(next, vector, 0, count, type);
    } else {
      messages.recv({next, count, &type}, i);
    }
    if (next != result.data()) reduce_local(*args.op, vector, result.data(), count, type);
  }
  copy_elements(static_cast<std::byte*>(args.recv.data), result.data(), 0, count, type);
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kReduceLinear{.collective = Collective::kReduce,
                                                   .name = "linear",
                                                   .preferred_for = conditions<kNever>,
                                                   .forms = {.run = reduce_linear}};

}  // namespace tmpi::mpi
