// Point-to-point on real fibers where memory is short, or a sender runs ahead of its receiver.
#include "mpi/p2p/p2p.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

#include "mpi/p2p/cell.hpp"
#include "mpi/p2p/exchange.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/turn.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/testing/bytes.hpp"
#include "mpi/testing/ranks.hpp"
#include "sched/scheduler.hpp"

using namespace tmpi::mpi;

namespace {

using testing::bytes;
using testing::pattern;
using testing::recv_bytes;
using testing::send_bytes;

}  // namespace

TEST_CASE("a sender that runs ahead is stopped by memory, not by death") {
  testing::run_ranks(2, 1, [](Rank& rank) {
    constexpr int kMessages = 10000;  // 40 MB, more than may be buffered
    if (rank.world_rank == 0) {
      for (int i = 0; i < kMessages; ++i) send_bytes(rank.world, pattern(4096, i), 1, 0);
    } else {
      for (int i = 0; i < kMessages; ++i) REQUIRE(recv_bytes(rank.world, 4096, 0, 0) == pattern(4096, i));
    }
  });
}

// Who finds the partner's message before it waits comes to a scheduling point all the same.
TEST_CASE("ranks of two workers that exchange for ever do not keep others there from it") {
  std::atomic<int> turns{0};
  testing::run_ranks(4, 2, [&](Rank& rank) {
    if (rank.world_rank % 2 == 0) {
      int mine[2] = {0, 0}, others[2] = {0, 0};  // how many, and whether there have been enough
      while (mine[1] == 0 || others[1] == 0) {
        ++mine[0];
        mine[1] = turns == 200;
        const int other = 2 - rank.world_rank;
        REQUIRE_FALSE(sendrecv(rank.world, rank.world.context, mine, sizeof mine, bytes(), other, 6, others,
                               sizeof others, bytes(), mine[0] % 2 == 0 ? other : MPI_ANY_SOURCE, 6,
                               MPI_STATUS_IGNORE));
        REQUIRE(others[0] == mine[0]);
      }
    } else {
      for (int i = 0; i < 100; ++i) {
        int other = -1;
        REQUIRE_FALSE(sendrecv(rank.world, rank.world.context, &i, sizeof i, bytes(), 4 - rank.world_rank, 7,
                               &other, sizeof other, bytes(), 4 - rank.world_rank, 7, MPI_STATUS_IGNORE));
        REQUIRE(other == i);
        ++turns;
      }
    }
  });
  CHECK(turns == 200);
}

// Sanitizers bring a malloc of their own.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && defined(__GLIBC__)

namespace {

// What a cell for a small message may take: a Message, the number of its class, 64 bytes.
bool small_cell(std::size_t size) {
  return size >= sizeof(Message) + 64 && size <= sizeof(Message) + 64 + 32;
}
std::atomic<bool> no_cells{false};
std::atomic<int> cells_refused{0};

}  // namespace

extern "C" void* __libc_malloc(std::size_t size) noexcept;  // NOLINT(bugprone-reserved-identifier)
extern "C" void* malloc(std::size_t size) noexcept {
  if (small_cell(size) && no_cells.load(std::memory_order_relaxed)) {
    cells_refused.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return __libc_malloc(size);
}

TEST_CASE("without memory a send and receive at once takes its receive back, and nothing else is lost") {
  std::atomic<bool> refused{false};
  std::atomic<int> sent{0};
  cells_refused = 0;
  testing::run_ranks(2, 2, [&](Rank& rank) {
    const auto send_number = [&](int number) {
      return send(rank.world, rank.world.context, &number, sizeof number, bytes(), 1, 5);
    };
    int out = -1, in = -1;
    // Both run: a channel leads from one to the other.
    if (rank.world_rank == 1) {
      for (int number : {70, 71})
        CHECK_FALSE(send(rank.world, rank.world.context, &number, sizeof number, bytes(), 0, 7));
      send_bytes(rank.world, {}, 0, 4);
    }
    if (rank.world_rank == 0) {
      (void)recv_bytes(rank.world, 0, 1, 4);
      no_cells = true;
      // Those that are in stock, too: a send that finds one to get past what lies in the channel, and none for
      // itself, waits to be received.
      std::vector<Message*> stock;
      while (Message* const cell = take_cell(64)) stock.push_back(cell);
      while (sent < 100000 && !send_number(sent)) ++sent;
      // Rank 1 holds its worker and sends nothing: whoever waits for it, waits for ever.
      const Err both = sendrecv(rank.world, rank.world.context, &out, sizeof out, bytes(), 1, 6, &in,
                                sizeof in, bytes(), 1, 6, MPI_STATUS_IGNORE);
      CHECK(both.error_class() == MPI_ERR_NO_MEM);
      CHECK(take_explanation().find("the message was not sent") != std::string::npos);
      Request& request =
          start_exchange(rank.world, {&out, sizeof out, bytes(), 1, 6}, {&in, sizeof in, bytes(), 1, 6});
      CHECK(request.done());
      wait(request);
      MPI_Request handle = handle_of(request);
      MPI_Status status;
      CHECK(conclude(handle, request, &status).error_class() == MPI_ERR_NO_MEM);
      CHECK(rank.matcher.posted_count() == 0);
      CHECK(in == -1);
      // Where the other's message is received nevertheless, it is not MPI_ERR_NO_MEM: again, the call would receive the
      // next one.
      const Err half = sendrecv(rank.world, rank.world.context, &out, sizeof out, bytes(), 1, 6, &in,
                                sizeof in, bytes(), 1, 7, MPI_STATUS_IGNORE);
      CHECK(half.error_class() == MPI_ERR_OTHER);
      CHECK(take_explanation().find("the message from rank 1 has been received") != std::string::npos);
      CHECK(in == 70);
      while (!send_number(sent)) ++sent;  // what was received has given its cell back
      Request& started =
          start_exchange(rank.world, {&out, sizeof out, bytes(), 1, 6}, {&in, sizeof in, bytes(), 1, 7});
      wait(started);
      handle = handle_of(started);
      CHECK(conclude(handle, started, &status).error_class() == MPI_ERR_OTHER);
      CHECK(in == 71);
      for (Message* cell : stock) give_back_cell(cell);
      no_cells = false;
      refused = true;
    } else {
      while (!refused) tmpi::cpu_relax();
      CHECK(sent > 0);
      for (int i = 0; i < sent; ++i) {
        int number = -1;
        CHECK_FALSE(
            recv(rank.world, rank.world.context, &number, sizeof number, bytes(), 0, 5, MPI_STATUS_IGNORE));
        CHECK(number == i);
      }
    }
    out = rank.world_rank;
    CHECK_FALSE(sendrecv(rank.world, rank.world.context, &out, sizeof out, bytes(), 1 - out, 6, &in,
                         sizeof in, bytes(), 1 - out, 6, MPI_STATUS_IGNORE));
    CHECK(in == 1 - rank.world_rank);
  });
  CHECK(cells_refused > 0);
}

#endif

// How far the sender is ahead of its receiver, at most: by blocking sends, or by nonblocking ones and waits.
static int most_ahead(bool blocking) {
  constexpr int kMessages = 300;
  int sent = 0, received = 0, most = 0;  // of one worker: nobody else touches them meanwhile
  testing::run_ranks(2, 1, [&](Rank& rank) {
    const std::vector<char> data = pattern(16, 1);
    if (rank.world_rank == 1) send_bytes(rank.world, data, 0, 0);  // it has begun
    if (rank.world_rank == 0) CHECK(recv_bytes(rank.world, 16, 1, 0) == data);
    for (int i = 0; i < kMessages; ++i) {
      if (rank.world_rank == 1) {
        CHECK(recv_bytes(rank.world, 16, 0, i) == data);
        ++received;
      } else if (blocking) {
        send_bytes(rank.world, data, 1, i);
        most = std::max(most, ++sent - received);
      } else {
        Request& request = create_request(
            rank.world, {RequestKind::kSend, SendMode::kStandard, data.data(), 16, &bytes(), 1, i});
        CHECK_FALSE(start(request));
        MPI_Request handle = handle_of(request);
        wait(request);
        CHECK_FALSE(conclude(handle, request, MPI_STATUS_IGNORE));
        most = std::max(most, ++sent - received);
      }
    }
  });
  CHECK(received == kMessages);
  return most;
}

TEST_CASE("who runs ahead of a rank of its worker that is ready gives it its turn") {
  CHECK(most_ahead(true) <= 16);
  CHECK(most_ahead(false) <= 16);
}

TEST_CASE("who runs ahead of a rank that waits for something else does not wait for it") {
  constexpr int kFew = kCallsPerTurn - 4;  // then others of the worker have a turn in any case
  int switched = 0;
  testing::run_ranks(3, 1, [&](Rank& rank) {
    const std::vector<char> data = pattern(16, 1);
    if (rank.world_rank == 0) {
      for (int other : {1, 2}) CHECK(recv_bytes(rank.world, 16, other, 0) == data);  // they have begun
      send_bytes(rank.world, data, 2, 1);
      for (int i = 0; i < kFew; ++i) {
        send_bytes(rank.world, data, 1, 0);
        CHECK(switched == 0);
      }
    } else if (rank.world_rank == 1) {
      send_bytes(rank.world, data, 0, 0);
      (void)recv_bytes(rank.world, 16, 2, 1);
      for (int i = 0; i < kFew; ++i) CHECK(recv_bytes(rank.world, 16, 0, 0) == data);
    } else {
      send_bytes(rank.world, data, 0, 0);
      CHECK(recv_bytes(rank.world, 16, 0, 1) == data);
      switched = 1;
      send_bytes(rank.world, data, 1, 1);
    }
  });
}
