// Who posts the next piece of a large message, and that small messages find their way between the pieces.
#include "mpi/remote/transfer_queue.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <vector>

#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/testing/bytes.hpp"
#include "mpi/testing/nodes.hpp"

namespace tmpi::mpi::remote {
namespace {

struct Load : InTransferQueue<Load> {
  MPI_Count left = 0;
};
constexpr MPI_Count kPiece = 1 << 20;

// Posts a piece of whoever comes next; who that was.
Load* post(TransferQueue<Load>& queue) {
  Load* const load = queue.take();
  if (load == nullptr) return nullptr;
  queue.posted(*load, kPiece);
  load->left -= kPiece;
  if (load->left > 0) queue.join(*load);
  return load;
}

TEST_CASE("a queue serves who came first to its end, as much at a time as it may hold") {
  TransferQueue<Load> queue;
  queue.limit(2 * kPiece);
  Load a{{}, 3 * kPiece}, b{{}, kPiece};
  queue.join(a);
  queue.join(b);
  queue.join(a);  // is there already
  CHECK(post(queue) == &a);
  CHECK(post(queue) == &a);
  CHECK(post(queue) == nullptr);
  queue.done(kPiece);
  CHECK(post(queue) == &a);
  CHECK(post(queue) == nullptr);
  queue.done(2 * kPiece);
  CHECK(post(queue) == &b);
  queue.done(2 * kPiece);
  CHECK(post(queue) == nullptr);
}

TEST_CASE("what finds nothing under way begins with a small piece, alone") {
  TransferQueue<Load> queue;
  queue.limit(2 * kPiece);
  queue.open_with(1000);
  Load a{{}, 4 * kPiece}, b{{}, kPiece};
  queue.join(a);
  CHECK(queue.piece(kPiece) == 1000);
  CHECK(queue.piece(10) == 10);
  CHECK(post(queue) == &a);
  queue.join(b);
  CHECK(queue.piece(kPiece) == kPiece);
  CHECK(post(queue) == nullptr);
  queue.done(kPiece);
  CHECK(post(queue) == &a);
  CHECK(post(queue) == &a);
  CHECK(post(queue) == nullptr);
  queue.done(2 * kPiece);
  CHECK(post(queue) == &a);
  CHECK(post(queue) == &b);
  queue.done(2 * kPiece);
  Load c{{}, 2 * kPiece};
  queue.join(c);
  CHECK(queue.piece(kPiece) == 1000);
  // One that has left as soon as it is posted; and who goes on is not new, though nothing is under way.
  CHECK(post(queue) == &c);
  queue.done(kPiece);
  CHECK(queue.piece(kPiece) == kPiece);
  CHECK(post(queue) == &c);
  queue.done(kPiece);
  Load d{{}, kPiece};
  d.turn = 1;
  queue.join(d);
  CHECK(queue.piece(kPiece) == kPiece);
}

TEST_CASE("who has had a long turn lets others come first; without a limit everybody posts at once") {
  TransferQueue<Load> queue;
  Load large{{}, 100 * kPiece}, small{{}, kPiece};
  queue.join(large);
  queue.join(small);
  for (MPI_Count i = 0; i < TransferQueue<Load>::kTurn / kPiece; ++i) CHECK(post(queue) == &large);
  CHECK(post(queue) == &small);
  int rest = 0;
  for (; post(queue) == &large; ++rest) {
  }
  CHECK(rest == 100 - TransferQueue<Load>::kTurn / kPiece);
}

TEST_CASE("what is waited for longest goes first, but for one that has had a long turn") {
  TransferQueue<Load> queue;
  const auto load = [](std::uint64_t order, MPI_Count pieces) {
    Load load{{}, pieces * kPiece};
    load.order = order;
    return load;
  };
  Load young = load(30, 2), old = load(10, 2), middle = load(20, 1), as_old = load(10, 1);
  queue.join(young);
  CHECK(post(queue) == &young);  // is in the queue again
  queue.join(old);
  queue.join(middle);
  queue.join(as_old);
  CHECK(post(queue) == &old);
  CHECK(post(queue) == &old);
  CHECK(post(queue) == &as_old);
  CHECK(post(queue) == &middle);
  CHECK(post(queue) == &young);
  CHECK(post(queue) == nullptr);

  constexpr MPI_Count kTurn = TransferQueue<Load>::kTurn / kPiece;
  Load huge = load(1, kTurn + 1), next = load(50, 1);
  queue.join(huge);
  queue.join(next);
  for (MPI_Count i = 0; i < kTurn; ++i) CHECK(post(queue) == &huge);
  CHECK(post(queue) == &next);
  CHECK(post(queue) == &huge);
}

TEST_CASE("marked peers are served once each") {
  Unserved unserved;
  unserved.use(3);
  CHECK(unserved.empty());
  unserved.add(2);
  unserved.add(0);
  unserved.add(2);
  std::vector<int> served;
  unserved.take([&](int peer) {
    if (served.empty()) unserved.add(1);
    served.push_back(peer);
  });
  CHECK(unserved.empty());
  CHECK(served.size() == 3);
}

// Listing 4's trouble: a CTS behind all data that goes the same way lets the way back be idle.
TEST_CASE("with a progress thread a small message passes large ones that are on their way") {
  constexpr MPI_Count kLarge = 512 << 10;
  constexpr int kLargeOnes = 8;
  for (const Rendezvous protocol : {Rendezvous::kRtsCts, Rendezvous::kRead}) {
    // 4 MiB take 0.2 s.
    testing::run_nodes(
        {.nodes = 2,
         .ranks = 2,
         .net = "sim:latency=10us,bandwidth=20MB/s",
         .settings = {.eager_limit = 8192, .rendezvous = protocol, .beside = true},
         .progress = sched::Progress::kThread},
        [](Rank& rank) {
          const int other = 1 - rank.world_rank;
          std::vector<char> memory(kLargeOnes * kLarge, static_cast<char>(rank.world_rank));
          bool passed = false;
          // On a machine where this process gets no core for that long it is too late.
          for (int attempt = 0; attempt < 4; ++attempt) {
            std::vector<Request*> large;
            for (int i = 0; i < kLargeOnes; ++i) {
              const auto kind = rank.world_rank == 0 ? RequestKind::kSend : RequestKind::kRecv;
              large.push_back(
                  &create_request(rank.world, {kind, SendMode::kStandard, memory.data() + i * kLarge, kLarge,
                                               &testing::bytes(), other, i}));
              CHECK_FALSE(start(*large.back()));
            }
            if (rank.world_rank == 0) {
              usleep(10'000);
              testing::send_bytes(rank.world, {'x'}, other, 99);
              CHECK(testing::recv_bytes(rank.world, 1, other, 99).size() == 1);
              passed = passed || !large[1]->done();
            } else {
              CHECK(testing::recv_bytes(rank.world, 1, other, 99).size() == 1);
              testing::send_bytes(rank.world, {static_cast<char>(large[1]->done())}, other, 99);
            }
            for (Request* request : large) {
              wait(*request);
              MPI_Request handle = handle_of(*request);
              CHECK_FALSE(conclude(handle, *request, MPI_STATUS_IGNORE));
            }
            // Both go on alike.
            if (rank.world_rank == 0) testing::send_bytes(rank.world, {static_cast<char>(passed)}, other, 98);
            if (rank.world_rank == 1)
              passed = testing::recv_bytes(rank.world, 1, other, 98) == std::vector<char>{1};
            if (passed) break;
          }
          CHECK(passed);
        });
  }
}

}  // namespace
}  // namespace tmpi::mpi::remote
