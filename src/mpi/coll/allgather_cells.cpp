// Allgather of small chunks: each member leaves its chunk where it belongs among all chunks, and takes them
// all when everybody has come.
#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/conditions.hpp"
#include "mpi/coll/steps.hpp"

namespace tmpi::mpi {
namespace {

struct AllgatherCells {
  static constexpr Amount kAmount = Amount::kBlock;
  static Chunk mine(const Comm& comm, const Args& args) {
    return args.in_place ? args.recv.chunk(comm.rank) : args.send.whole();
  }

  static bool empty(const Comm& comm, Args& args) {
    const MPI_Count bytes = args.recv.whole().bytes();
    if (mine(comm, args).bytes() > bytes) args.error = MPI_ERR_TRUNCATE;
    return bytes == 0;
  }

  static void contribute(Call& call) {
    const Chunk chunk = mine(call.comm, call.args);
    const MPI_Count bytes = call.args.recv.whole().bytes(), length = std::min(chunk.bytes(), bytes);
    std::byte* place = cells_of(call) + call.comm.rank * bytes;
    if (chunk.type->contiguous()) {
      copy_bytes(place, chunk.data, length);
    } else {
      pack_segment(place, chunk.data, chunk.count, *chunk.type, 0, length);
    }
  }

  static void finish(Call& call) {
    const Side& recv = call.args.recv;
    const Chunk all{recv.data, call.comm.size * recv.count, recv.type};
    (void)unpack_chunk(all, cells_of(call), all.bytes());
  }
};

}  // namespace

constinit const Algorithm algorithm::kAllgatherCells{.collective = Collective::kAllgather,
                                                     .name = "cells",
                                                     .needs = conditions<kOneNode, kRegular, kFitsCell>,
                                                     .preferred_for = conditions<kButPairUpTo<32>>,
                                                     .forms = all_together<AllgatherCells>};

}  // namespace tmpi::mpi
