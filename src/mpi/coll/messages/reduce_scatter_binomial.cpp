// Reduce_scatter and reduce_scatter_block as a reduce to rank 0 along a binomial tree and a scatter: 2 log n
// steps; for small vectors.
#include <vector>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

Err reduce_scatter_binomial(Comm& comm, Args& args) {
  const Datatype& type = *args.recv.type;
  std::vector<MPI_Count> counts, displs;
  MPI_Count total = 0;
  for (int i = 0; i < comm.size; ++i) {
    counts.push_back(reduced_count(args, i));
    displs.push_back(total);
    total += counts.back();
  }
  ElementBuffer whole(type, comm.rank == 0 ? total : 0);
  Args reduce{.collective = Collective::kReduce, .op = args.op};
  reduce.send = {.data = const_cast<std::byte*>(args.input()), .count = total, .type = &type};
  reduce.recv = {.data = comm.rank == 0 ? whole.data() : nullptr, .count = total, .type = &type};
  const Err reduced = algorithm::kReduceBinomial.forms.run(comm, reduce);
  Args scatter{.collective = Collective::kScatter};
  scatter.send = {.data = whole.data(), .type = &type, .counts = counts.data(), .displs = displs.data()};
  scatter.recv = {.data = args.recv.data, .count = reduced_count(args, comm.rank), .type = &type};
  const Err scattered = algorithm::kScatterLinear.forms.run(comm, scatter);
  return reduced ? reduced : scattered;
}

}  // namespace

constinit const Algorithm algorithm::kReduceScatterBinomial{.collective = Collective::kReduceScatter,
                                                            .name = "binomial",
                                                            .preferred_for = conditions<kNever>,
                                                            .forms = {.run = reduce_scatter_binomial}};

}  // namespace tmpi::mpi
