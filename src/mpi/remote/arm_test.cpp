// Who arms is on its way to sleep: what a rank has left for whoever was inside must not be done there, where the task
// that becomes ready by it would sleep with its worker.
#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "mpi/p2p/lifecycle.hpp"
#include "mpi/testing/bytes.hpp"
#include "mpi/testing/nodes.hpp"

namespace tmpi::mpi::remote {
namespace {

void wait_for(const std::atomic<bool>& flag) noexcept {
  while (!flag.load(std::memory_order_acquire)) sched_yield();
}
void raise(std::atomic<bool>& flag) noexcept {
  flag.store(true, std::memory_order_release);
}

// Goes on, on its way out of the engine with the lock open, only when it may.
struct Dawdler final : Continuation {
  std::atomic<bool> is_out{false}, may_go{false};
  void proceed() noexcept override {
    raise(is_out);
    wait_for(may_go);
  }
};

}  // namespace

TEST_CASE("arming runs nothing that others have left, and says that there is something to do") {
  testing::run_nodes(testing::on_sim(2, 2, 1, true), [](Rank& rank) {
    std::vector<char> data(100, 'x');
    if (rank.world_rank == 1) {
      CHECK(testing::recv_bytes(rank.world, data.size(), 0, 5) == data);
      return;
    }
    Request& send = create_request(
        rank.world, {RequestKind::kSend, SendMode::kStandard, data.data(), 100, &testing::bytes(), 1, 5});
    std::atomic<bool> looks{false}, left{false};
    Dawdler dawdler;
    std::thread other([&] {
      Request finished;
      finished.reset(dawdler);
      engine()->with_core([&](Core& core) {
        core.finished.add(finished);
        // It has taken the list of delegations when this one, which is on it, runs.
        engine()->submit([&looks, &left](Sends&, Receives&) {
          raise(looks);
          wait_for(left);
        });
      });
    });
    wait_for(looks);
    CHECK_FALSE(start(send));
    CHECK_FALSE(send.done());
    raise(left);
    wait_for(dawdler.is_out);
    CHECK(arm(false).ready);
    CHECK_FALSE(send.done());
    raise(dawdler.may_go);
    other.join();
    CHECK(send.done());
    wait(send);
    MPI_Request handle = handle_of(send);
    CHECK_FALSE(conclude(handle, send, MPI_STATUS_IGNORE));
  });
}

}  // namespace tmpi::mpi::remote
