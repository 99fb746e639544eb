// Reduce_scatter and reduce_scatter_block by pairs: in step s a member sends the one s ranks below the chunk
// that belongs there and gets its own chunk from the one s ranks above. Inputs from above and from below are
// collected apart, each in rank order, so operators need not commute.
#include <utility>
#include <vector>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

// The combination of a run of members' chunks, to which the next higher member's is added.
class Run {
 public:
  Run(const Args& args, MPI_Count count)
      : op_(*args.op), type_(*args.recv.type), count_(count), buffers_{{type_, count}, {type_, count}} {}
  bool empty() const noexcept { return empty_; }
  std::byte* value() noexcept { return value_; }
  std::byte* room() noexcept { return room_; }
  /// What stands in room() belongs to the next higher member.
  void add() {
    if (!empty_) reduce_local(op_, value_, room_, count_, type_);
    std::swap(value_, room_);
    empty_ = false;
  }

 private:
  const Op& op_;
  const Datatype& type_;
  const MPI_Count count_;
  ElementBuffer buffers_[2];
  std::byte* value_ = buffers_[0].data();
  std::byte* room_ = buffers_[1].data();
  bool empty_ = true;
};

Err reduce_scatter_pairwise(Comm& comm, Args& args) {
  Messages messages(comm, args);
  const int n = comm.size, me = comm.rank;
  const Datatype& type = *args.recv.type;
  auto* input = const_cast<std::byte*>(args.input());
  std::vector<MPI_Count> first(static_cast<std::size_t>(n) + 1, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    first[i + 1] = first[i] + reduced_count(args, static_cast<int>(i));
  const auto chunk = [&](int member) {
    const auto i = static_cast<std::size_t>(member);
    return elements_of(input, first[i], first[i + 1] - first[i], type);
  };
  const MPI_Count count = chunk(me).count;
  Run upper(args, count), lower(args, count);  // me .. n - 1, and 0 .. me - 1
  if (count > 0) copy_elements(upper.room(), static_cast<const std::byte*>(chunk(me).data), 0, count, type);
  upper.add();
  for (int step = 1; step < n; ++step) {
    const int above = (me + step) % n, below = (me - step + n) % n;
    Run& run = above > me ? upper : lower;
    messages.exchange(chunk(below), below, {run.room(), count, &type}, above);
    run.add();
  }
  if (!lower.empty()) reduce_local(*args.op, lower.value(), upper.value(), count, type);
  if (count > 0) copy_elements(static_cast<std::byte*>(args.recv.data), upper.value(), 0, count, type);
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kReduceScatterPairwise{
    .collective = Collective::kReduceScatter, .name = "pairwise", .forms = {.run = reduce_scatter_pairwise}};

}  // namespace tmpi::mpi
