// Messages between node processes: every protocol over every transport, with the layouts, sizes, wildcards,
// probes and cancels of MPI. The network is real, the node processes are forked (mpi/testing/nodes.hpp).
#include "mpi/remote/remote.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "mpi/core/status.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/probe.hpp"
#include "mpi/testing/nodes.hpp"

using namespace tmpi::mpi;
using remote::Rendezvous;
using testing::NodesOptions;

namespace {

const Datatype& bytes() {
  return *datatype_from(MPI_BYTE);
}

void send_bytes(Comm& comm, const std::vector<char>& data, int dest, int tag,
                SendMode mode = SendMode::kStandard) {
  CHECK_FALSE(
      send(comm, comm.context, data.data(), static_cast<MPI_Count>(data.size()), bytes(), dest, tag, mode));
}

std::vector<char> recv_bytes(Comm& comm, std::size_t capacity, int source, int tag,
                             MPI_Status* status = MPI_STATUS_IGNORE) {
  std::vector<char> data(capacity);
  MPI_Status mine;
  CHECK_FALSE(
      recv(comm, comm.context, data.data(), static_cast<MPI_Count>(capacity), bytes(), source, tag, &mine));
  data.resize(static_cast<std::size_t>(status_bytes(mine)));
  if (status != MPI_STATUS_IGNORE) *status = mine;
  return data;
}

std::vector<char> pattern(std::size_t size, int seed) {
  std::vector<char> data(size);
  for (std::size_t i = 0; i < size; ++i)
    data[i] = static_cast<char>(i * 7 + static_cast<std::size_t>(seed) * 13 + (i >> 8));
  return data;
}

constexpr MPI_Count kEager = 8192;

struct Case {
  const char* net;
  Rendezvous rendezvous;
};
constexpr Case kCases[] = {{"tcp", Rendezvous::kRtsCts}, {"tcp", Rendezvous::kEarlyCts}};

// Runs the body once for each transport and protocol.
void everywhere(int nodes, int ranks, int workers, const std::function<void(Rank&)>& body) {
  for (const Case& c : kCases) {
    CAPTURE(c.net);
    CAPTURE(static_cast<int>(c.rendezvous));
    testing::run_nodes({.nodes = nodes,
                        .ranks = ranks,
                        .workers = workers,
                        .net = c.net,
                        .settings = {.eager_limit = kEager, .rendezvous = c.rendezvous}},
                       body);
  }
}

}  // namespace

TEST_CASE("ping-pong of all sizes around the protocol limits, every mode") {
  everywhere(2, 2, 1, [](Rank& rank) {
    for (std::size_t size : {0, 1, 8, 255, 4096, 8191, 8192, 8193, 100000, 262144, 262145, 3000000}) {
      for (SendMode mode : {SendMode::kStandard, SendMode::kSynchronous, SendMode::kReady}) {
        const int other = 1 - rank.world_rank;
        if (rank.world_rank == 0) send_bytes(rank.world, pattern(size, 1), other, 3, mode);
        CHECK(recv_bytes(rank.world, size + 10, other, 3) == pattern(size, rank.world_rank == 0 ? 2 : 1));
        if (rank.world_rank == 1) send_bytes(rank.world, pattern(size, 2), other, 3, mode);
      }
    }
  });
}
