// Scan and exscan along the chain of ranks: each member adds its input to what comes from below and hands the
// sum on. n - 1 steps one after the other, but each member sends and receives its vector only once.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {
namespace {

Err scan_linear(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Messages messages(comm, args);
  Accumulator sum(args, args.recv.count, args.recv.data);
  if (comm.rank > 0) {
    messages.recv(sum.incoming(), comm.rank - 1);
    sum.fold_lower();
  }
  if (comm.rank + 1 < comm.size) messages.send(sum.value(), comm.rank + 1);
  return messages.result();
}

Err exscan_linear(Comm& comm, Args& args) {
  if (args.recv.count == 0) return kOk;
  Messages messages(comm, args);
  Accumulator sum(args, args.recv.count, nullptr);
  if (comm.rank > 0) {
    messages.recv(sum.incoming(), comm.rank - 1);
    if (comm.rank + 1 < comm.size) sum.fold_lower();
  }
  if (comm.rank + 1 < comm.size) messages.send(sum.value(), comm.rank + 1);
  if (comm.rank > 0) {
    copy_elements(static_cast<std::byte*>(args.recv.data), static_cast<std::byte*>(sum.incoming().data), 0,
                  args.recv.count, *args.recv.type);
  }
  return messages.result();
}

}  // namespace

constinit const Algorithm algorithm::kScanLinear{.collective = Collective::kScan,
                                                 .name = "linear",
                                                 .preferred_for = conditions<kNever>,
                                                 .forms = {.run = scan_linear}};

constinit const Algorithm algorithm::kExscanLinear{.collective = Collective::kExscan,
                                                   .name = "linear",
                                                   .preferred_for = conditions<kNever>,
                                                   .forms = {.run = exscan_linear}};

}  // namespace tmpi::mpi
