#include "mpi/io/together.hpp"

#include <utility>

namespace tmpi::mpi {
namespace {

Err reduce(Comm& comm, Collective collective, MPI_Op op, MPI_Count* values, MPI_Count* result,
           MPI_Count count) {
  Args args{.collective = collective};
  args.send = {.data = values, .count = count, .type = checked_type(MPI_COUNT)};
  args.recv = {.data = result, .count = count, .type = checked_type(MPI_COUNT)};
  args.op = op_from(op);
  return run(comm, args);
}

}  // namespace

Err smallest(Comm& comm, MPI_Count* values, MPI_Count count) {
  std::vector<MPI_Count> mine(values, values + count);
  return reduce(comm, Collective::kAllreduce, MPI_MIN, mine.data(), values, count);
}

Err sums(Comm& comm, MPI_Count mine, MPI_Count& before, MPI_Count& all) {
  before = 0;
  MPI_Count with_mine = 0;
  TMPI_TRY(reduce(comm, Collective::kScan, MPI_SUM, &mine, &with_mine, 1));
  before = with_mine - mine;
  return reduce(comm, Collective::kAllreduce, MPI_SUM, &mine, &all, 1);
}

Err agree_on(Comm& comm, Err mine, const char* doing) {
  std::string explanation = mine ? take_explanation() : std::string{};
  MPI_Count first = mine ? comm.rank : comm.size;  // that has failed
  TMPI_TRY(smallest(comm, &first, 1));
  if (first == comm.size) return kOk;
  if (mine) {
    explain(std::move(explanation));
    return mine;
  }
  return fail(MPI_ERR_OTHER, "rank {} of the file's communicator has failed in {}, so nobody does it", first,
              doing);
}

}  // namespace tmpi::mpi
