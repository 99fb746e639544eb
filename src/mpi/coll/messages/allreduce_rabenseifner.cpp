// Allreduce after Rabenseifner: reduce-scatter by recursive halving, then allgather by recursive doubling.
// Each member sends and receives about twice the vector in 2 log n steps; for large vectors. Partners are
// near first, so that what is combined is always a run of ranks and operators need not commute.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

// Elements [first, last).
struct Range {
  MPI_Count first;
  MPI_Count last;
  MPI_Count size() const noexcept { return last - first; }
};

// The half that a position with this bit works on, of what it and its partner work on together.
Range half(const Range& whole, bool upper) noexcept {
  const MPI_Count middle = whole.first + whole.size() / 2;
  return upper ? Range{middle, whole.last} : Range{whole.first, middle};
}

// What a position works on once it has halved with the partners below `distance`.
Range part_of(int position, int distance, MPI_Count count) noexcept {
  Range range{0, count};
  for (int bit = 1; bit < distance; bit *= 2) range = half(range, (position & bit) != 0);
  return range;
}

void halve(Messages& messages, Accumulator& accumulator, const PowerOfTwo& power, MPI_Count count) {
  for (int distance = 1; distance < power.size(); distance *= 2) {
    const int position = power.position(), partner = power.rank_at(position ^ distance);
    const bool upper = (position & distance) != 0;
    const Range whole = part_of(position, distance, count);
    const Range keep = half(whole, upper), give = half(whole, !upper);
    messages.exchange(accumulator.value(give.first, give.size()), partner,
                      accumulator.incoming(keep.first, keep.size()), partner);
    upper ? accumulator.fold_lower(keep.first, keep.size()) : accumulator.fold_upper(keep.first, keep.size());
  }
}

void collect(Messages& messages, Accumulator& accumulator, const PowerOfTwo& power, MPI_Count count) {
  for (int distance = power.size() / 2; distance > 0; distance /= 2) {
    const int position = power.position(), partner = power.rank_at(position ^ distance);
    const bool upper = (position & distance) != 0;
    const Range whole = part_of(position, distance, count);
    const Range have = half(whole, upper), want = half(whole, !upper);
    messages.exchange(accumulator.value(have.first, have.size()), partner,
                      accumulator.value(want.first, want.size()), partner);
  }
}

Err allreduce_rabenseifner(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Messages messages(comm, args);
  Accumulator accumulator(args, args.recv.count, args.recv.data);
  const PowerOfTwo power(comm.rank, comm.size);
  power.enter(messages, accumulator);
  if (power.position() >= 0) {
    halve(messages, accumulator, power, args.recv.count);
    collect(messages, accumulator, power, args.recv.count);
  }
  power.leave(messages, accumulator);
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kAllreduceRabenseifner{
    .collective = Collective::kAllreduce, .name = "rabenseifner", .forms = {.run = allreduce_rabenseifner}};

}  // namespace tmpi::mpi
