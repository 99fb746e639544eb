// Intercommunicators, reductions: each group reduces to its leader; the leaders exchange the results, and
// each spreads the other group's in its own.
#include <vector>

#include "mpi/coll/coll.hpp"
#include "mpi/coll/inter/inter.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

// Combines `count` elements of my group's inputs at the leader, in `result` (null elsewhere).
Err reduce_group(Comm& comm, const Args& args, MPI_Count count, std::byte* result) {
  const Datatype* type = args.recv.type;
  Args within{.collective = Collective::kReduce, .op = args.op, .root = inter::kLeader};
  within.send = {.data = args.send.data, .count = count, .type = type};
  within.recv = {.data = result, .count = count, .type = type};
  return run(*comm.local, within);
}

// The leader's memory for a result; nothing elsewhere.
class LeaderBuffer {
 public:
  LeaderBuffer(const Comm& comm, const Datatype& type, MPI_Count count) {
    if (comm.rank == inter::kLeader) memory_ = std::make_unique<ElementBuffer>(type, count);
  }
  std::byte* data() { return memory_ != nullptr ? memory_->data() : nullptr; }

 private:
  std::unique_ptr<ElementBuffer> memory_;
};

}  // namespace

Err inter::reduce(Comm& comm, Args& args) {
  if (args.root == MPI_PROC_NULL) return kOk;
  Messages messages(comm, args);
  if (args.root == MPI_ROOT) {
    messages.recv(args.recv.whole(), kLeader);
    return messages.result();
  }
  LeaderBuffer result(comm, *args.recv.type, args.recv.count);
  TMPI_TRY(reduce_group(comm, args, args.recv.count, result.data()));
  if (comm.rank == kLeader) messages.send({result.data(), args.recv.count, args.recv.type}, args.root);
  return messages.result();
}

Err inter::allreduce(Comm& comm, Args& args) {
  Messages messages(comm, args);
  LeaderBuffer mine(comm, *args.recv.type, args.recv.count);
  TMPI_TRY(reduce_group(comm, args, args.recv.count, mine.data()));
  if (comm.rank == kLeader)
    messages.exchange({mine.data(), args.recv.count, args.recv.type}, kLeader, args.recv.whole(), kLeader);
  Args within{.collective = Collective::kBcast, .recv = args.recv, .root = kLeader};
  TMPI_TRY(run(*comm.local, within));
  return messages.result();
}

Err inter::reduce_scatter(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const Datatype& type = *args.recv.type;
  std::vector<MPI_Count> counts, displs;
  MPI_Count total = 0;
  for (int i = 0; i < comm.size; ++i) {
    counts.push_back(reduced_count(args, i));
    displs.push_back(total);
    total += counts.back();
  }
  LeaderBuffer mine(comm, type, total), theirs(comm, type, total);
  TMPI_TRY(reduce_group(comm, args, total, mine.data()));
  if (comm.rank == kLeader)
    messages.exchange({mine.data(), total, &type}, kLeader, {theirs.data(), total, &type}, kLeader);
  Args within{.collective = Collective::kScatter, .root = kLeader, .ragged = true};
  within.send = {.data = theirs.data(), .type = &type, .counts = counts.data(), .displs = displs.data()};
  within.recv = {.data = args.recv.data, .count = reduced_count(args, comm.rank), .type = &type};
  TMPI_TRY(run(*comm.local, within));
  return messages.result();
}

}  // namespace tmpi::mpi
