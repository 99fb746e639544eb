// Point-to-point on real fibers, below the C interface: every mode, several workers, random traffic with
// checksums.
#include "mpi/p2p/p2p.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>

#include "base/owned_lock.hpp"
#include "base/platform.hpp"
#include "base/process_barrier.hpp"
#include "mpi/base/status.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/probe.hpp"
#include "mpi/p2p/shared_copy.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/testing/bytes.hpp"
#include "mpi/testing/ranks.hpp"
#include "sched/assist.hpp"
#include "sched/scheduler.hpp"
#include "sched/task.hpp"
#include "timers/clock.hpp"

using namespace tmpi::mpi;

namespace {

constexpr MPI_Count kMostHalved = kCopies[1].most;

using testing::bytes;
using testing::pattern;
using testing::recv_bytes;
using testing::send_bytes;

}  // namespace

TEST_CASE("ping-pong of all sizes around the protocol limits, every mode") {
  for (int workers : {1, 2}) {
    testing::run_ranks(2, workers, [](Rank& rank) {
      for (std::size_t size : {0, 1, 8, 64, 255, 256, 257, 4095, 4096, 4097, 100000}) {
        for (SendMode mode : {SendMode::kStandard, SendMode::kSynchronous}) {
          const int other = 1 - rank.world_rank;
          if (rank.world_rank == 0) send_bytes(rank.world, pattern(size, 1), other, 3, mode);
          CHECK(recv_bytes(rank.world, size + 10, other, 3) == pattern(size, rank.world_rank == 0 ? 2 : 1));
          if (rank.world_rank == 1) send_bytes(rank.world, pattern(size, 2), other, 3, mode);
        }
      }
    });
  }
}

// Up to kMostHalved each of the two workers copies a half.
TEST_CASE("a message that two workers copy is whole, and nothing beside it is touched") {
  for (const int ranks : {2, 5}) {
    testing::run_ranks(ranks, 2, [ranks](Rank& rank) {
      constexpr auto kLeast = static_cast<std::size_t>(kLeastShared),
                     kMost = static_cast<std::size_t>(kMostHalved);
      constexpr std::size_t kBeside = 64;
      const int right = (rank.world_rank + 1) % ranks, left = (rank.world_rank + ranks - 1) % ranks;
      for (const std::size_t size :
           {kLeast - 1, kLeast, kLeast + 1, kLeast + 4165, kMost, kMost + 1, 3 * kMost}) {
        for (int round = 0; round < (tmpi::kSanitized ? 4 : 20); ++round) {
          const std::size_t shift = static_cast<std::size_t>(round) * 7 % kBeside;
          const std::vector<char> out = pattern(size, round + rank.world_rank);
          std::vector<char> in(size + 2 * kBeside, '#'), expected = in;
          const std::vector<char> data = pattern(size, round + left);
          std::copy(data.begin(), data.end(), expected.begin() + static_cast<std::ptrdiff_t>(shift));
          const auto receive = [&] {
            CHECK_FALSE(recv(rank.world, rank.world.context, in.data() + shift, static_cast<MPI_Count>(size),
                             bytes(), left, round, MPI_STATUS_IGNORE));
          };
          // Who comes second copies, the other may assist.
          const bool first = rank.world_rank % 2 == round / 2 % 2;
          if (rank.world_rank == 0 || (first && round % 2 == 0 && rank.world_rank != ranks - 1)) {
            send_bytes(rank.world, out, right, round);
            receive();
          } else {
            receive();
            send_bytes(rank.world, out, right, round);
          }
          CHECK(in == expected);
        }
      }
    });
  }
}

// That they do: of a message in two halves the worker that waits has copied one, and so the other one has, too.
TEST_CASE("of a message of 64 to 512 KiB each of two workers that idle copies a half") {
  testing::run_ranks(2, 2, [](Rank& rank) {
    tmpi::sched::Scheduler& scheduler = *tmpi::sched::scheduler();
    if (scheduler.oversubscribed()) return;  // nobody idles there
    const auto pieces = [&] {
      return scheduler.assist_point(0).pieces() + scheduler.assist_point(1).pieces();
    };
    for (const MPI_Count size : {kLeastShared, kLeastShared + 4165, 2 * kLeastShared, kMostHalved}) {
      const int other = 1 - rank.world_rank;
      // Made before: a worker that waits stays awake only for so long.
      const std::vector<char> data = pattern(static_cast<std::size_t>(size), 1);
      std::vector<char> in(data.size());
      bool halved = false;
      // On a machine that does other work the other core may be away, or copy both.
      const double start = tmpi::timers::wtime();
      for (char going = 1; going != 0;) {
        if (rank.world_rank == 0) {
          const std::uint64_t before = pieces();
          send_bytes(rank.world, data, other, 0);
          (void)recv_bytes(rank.world, 1, other, 1);
          const std::uint64_t copied = pieces() - before;
          CHECK(copied <= 2);
          halved = halved || copied == 1;
          going = !halved && tmpi::timers::wtime() - start < 60;
          send_bytes(rank.world, {going}, other, 2);
        } else {
          CHECK_FALSE(
              recv(rank.world, rank.world.context, in.data(), size, bytes(), other, 0, MPI_STATUS_IGNORE));
          CHECK(in == data);
          std::fill(in.begin(), in.end(), '#');
          send_bytes(rank.world, {going}, other, 1);
          going = recv_bytes(rank.world, 1, other, 2)[0];
        }
      }
      if (rank.world_rank == 0) CHECK(halved);
    }
  });
}

TEST_CASE("truncation is the receiver's error and drops the rest") {
  testing::run_ranks(2, 2, [](Rank& rank) {
    if (rank.world_rank == 0) {
      send_bytes(rank.world, pattern(100, 1), 1, 0);
      send_bytes(rank.world, pattern(9000, 1), 1, 0);
      send_bytes(rank.world, pattern(3, 4), 1, 1);
    } else {
      for (std::size_t size : {50, 5000}) {
        std::vector<char> buffer(size + 1, 'x');
        MPI_Status status;
        Err error = recv(rank.world, rank.world.context, buffer.data(), static_cast<MPI_Count>(size), bytes(),
                         0, 0, &status);
        CHECK(error.error_class() == MPI_ERR_TRUNCATE);
        CHECK(take_explanation().find("longer than the receive buffer") != std::string::npos);
        CHECK(status_bytes(status) == static_cast<MPI_Count>(size));
        CHECK(buffer.back() == 'x');
      }
      CHECK(recv_bytes(rank.world, 3, 0, 1) == pattern(3, 4));
    }
  });
}

TEST_CASE("wildcards, order of one sender, probe and matched probe") {
  testing::run_ranks(5, 2, [](Rank& rank) {
    constexpr int kMessages = 200;
    if (rank.world_rank != 0) {
      for (int i = 0; i < kMessages; ++i)
        send_bytes(rank.world, pattern(static_cast<std::size_t>(i * 40 % 6000), i), 0, i % 3);
      return;
    }
    std::vector<std::vector<int>> seen(5 * 3);
    for (int i = 0; i < 4 * kMessages; ++i) {
      Envelope envelope;
      probe(rank.world, MPI_ANY_SOURCE, MPI_ANY_TAG, envelope);
      MPI_Status status;
      std::vector<char> data;
      if (i % 2 == 0) {
        data = recv_bytes(rank.world, static_cast<std::size_t>(envelope.bytes), envelope.source, envelope.tag,
                          &status);
      } else {
        data = recv_bytes(rank.world, 6000, MPI_ANY_SOURCE, MPI_ANY_TAG, &status);
      }
      auto& of_pair = seen[static_cast<std::size_t>(status.MPI_SOURCE * 3 + status.MPI_TAG)];
      const int index = static_cast<int>(of_pair.size()) * 3 + status.MPI_TAG;  // n-th message with this tag
      CHECK(data == pattern(static_cast<std::size_t>(index * 40 % 6000), index));
      of_pair.push_back(index);
    }
    Envelope none;
    CHECK_FALSE(iprobe(rank.world, MPI_ANY_SOURCE, MPI_ANY_TAG, none));
  });
}

// Ranks 0 and 1 share a worker. 0 receives what 2 sends on and on, slower than that comes, until 1 tells 2 to stop, which
// waits for a message meanwhile.
TEST_CASE("who receives what is always there already does not keep its worker from others") {
  constexpr int kMost = 20000, kWindow = 32;
  enum { kData, kStop };
  for (const std::size_t size : {8, 2000}) {
    for (const std::size_t last_size : {8, 100000}) {
      for (const bool nonblocking : {false, true}) {
        std::atomic<int> sent{0}, received{0};
        testing::run_ranks(3, 2, [&](Rank& rank) {
          if (rank.world_rank == 0) {
            std::vector<char> data(size);
            for (int i = 0; i < kMost; ++i) {
              while (sent.load() == i) tmpi::cpu_relax();
              if (sent.load() < 0 && i >= -sent.load()) break;
              if (nonblocking) {
                Request* const one =
                    &create_request(rank.world, {RequestKind::kRecv, SendMode::kStandard, data.data(),
                                                 static_cast<MPI_Count>(size), &bytes(), 2, kData});
                CHECK_FALSE(start(*one));
                wait(*one);
                MPI_Request handle = handle_of(*one);
                CHECK_FALSE(conclude(handle, *one, MPI_STATUS_IGNORE));
              } else {
                recv_bytes(rank.world, size, 2, kData);
              }
              ++received;
            }
          } else if (rank.world_rank == 1) {
            recv_bytes(rank.world, last_size, 2, kData);
            send_bytes(rank.world, pattern(8, 1), 2, kStop);
          } else {
            Envelope stop;
            int i = 0;
            for (; i < kMost && !iprobe(rank.world, 1, kStop, stop); ++i) {
              if (i == 100) send_bytes(rank.world, pattern(last_size, 1), 1, kData);
              send_bytes(rank.world, pattern(size, i), 0, kData);
              sent = i + 1;
              while (received.load() < i - kWindow) tmpi::cpu_relax();
              tmpi::sched::yield();
            }
            CHECK(i < kMost);
            sent = -i;
            recv_bytes(rank.world, 8, 1, kStop);
          }
        });
      }
    }
  }
}

// Ranks 0 and 1 share a worker. 0 waits for 1, and nothing but its cells limits what 2 sends it. If that worker has lost its
// core meanwhile most goes by descriptors: hence several attempts at the lower bound.
TEST_CASE(
    "scattered data that nobody receives are buffered up to a limit, whoever else is sent to in between") {
  constexpr int kMessages = 320;
  constexpr MPI_Count kElements = 7500;
  enum { kData, kSmall, kGo };
  std::atomic<bool> buffered{false};
  const auto body = [&buffered](Rank& rank) {
    if (rank.world_rank == 0) recv_bytes(rank.world, 8, 1, kGo);
    if (rank.world_rank == 1) {
      for (int i = 0; i < kMessages; ++i) recv_bytes(rank.world, 8, 2, kSmall);
      recv_bytes(rank.world, 8, 2, kGo);
      Rank& other = *job()->local(0);
      if (other.matcher.buffered_bytes() > kMostBuffered / 2) buffered = true;
      CHECK(other.matcher.buffered_bytes() < kMostBuffered + (2 << 20));
      send_bytes(rank.world, pattern(8, 0), 0, kGo);
    }
    if (rank.world_rank == 1) return;
    const std::vector<char> sent = pattern(kElements * 16, 0);
    std::vector<char> data = rank.world_rank == 2 ? sent : std::vector<char>(kElements * 16);
    Datatype* made = nullptr;
    REQUIRE_FALSE(construct_vector<MPI_Count>(kElements, 1, 2, *datatype_from(MPI_DOUBLE), made));
    const auto release = [](Datatype* old) { old->release(); };
    const std::unique_ptr<Datatype, decltype(release)> type(made, release);
    REQUIRE(type->scattered());
    std::vector<Request*> requests;
    for (int i = 0; i < kMessages; ++i) {
      const bool sends = rank.world_rank == 2;
      requests.push_back(
          &create_request(rank.world, {sends ? RequestKind::kSend : RequestKind::kRecv, SendMode::kStandard,
                                       data.data(), 1, type.get(), sends ? 0 : 2, kData}));
      if (sends) send_bytes(rank.world, pattern(8, 0), 1, kSmall);
      CHECK_FALSE(start(*requests.back()));
    }
    if (rank.world_rank == 2) send_bytes(rank.world, pattern(8, 0), 1, kGo);
    wait_all(requests.data(), kMessages);
    for (Request* request : requests) {
      MPI_Request handle = handle_of(*request);
      CHECK_FALSE(conclude(handle, *request, MPI_STATUS_IGNORE));
    }
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (i % 16 < 8 && data[i] != sent[i]) FAIL("wrong data");
    }
  };
  for (int attempt = 0; attempt < 5 && !buffered; ++attempt) testing::run_ranks(3, 2, body);
  CHECK(buffered);
}

TEST_CASE("wait_all: of several messages from one rank any may come first") {
  for (int workers : {1, 2}) {
    for (const std::vector<int>& order : {std::vector{2, 1, 0}, std::vector{2, 0, 1}, std::vector{0, 1, 2}}) {
      testing::run_ranks(2, workers, [&](Rank& rank) {
        constexpr int kMessages = 3, kGo = 9;
        if (rank.world_rank == 1) {
          CHECK(recv_bytes(rank.world, 1, 0, kGo) == pattern(1, 0));
          for (const int tag : order) {
            send_bytes(rank.world, pattern(100, tag), 0, tag);
            for (int i = 0; i < 20; ++i) tmpi::sched::yield();  // the other one waits meanwhile
          }
          return;
        }
        std::array<std::vector<char>, kMessages> data;
        std::array<Request*, kMessages> requests{};
        for (int tag = 0; tag < kMessages; ++tag) {
          const auto at = static_cast<std::size_t>(tag);
          data[at].resize(100);
          requests[at] = &create_request(
              rank.world, {RequestKind::kRecv, SendMode::kStandard, data[at].data(), 100, &bytes(), 1, tag});
          CHECK_FALSE(start(*requests[at]));
        }
        send_bytes(rank.world, pattern(1, 0), 1, kGo);
        wait_all(requests.data(), kMessages);
        for (int tag = 0; tag < kMessages; ++tag) {
          const auto at = static_cast<std::size_t>(tag);
          REQUIRE(requests[at]->done());
          CHECK(data[at] == pattern(100, tag));
          MPI_Request handle = handle_of(*requests[at]);
          CHECK_FALSE(conclude(handle, *requests[at], MPI_STATUS_IGNORE));
        }
      });
    }
  }
}

TEST_CASE("random traffic between many ranks on several workers, nonblocking, waited for in every way") {
  for (int workers : {1, 3}) {
    constexpr int kRanks = 12;
    testing::run_ranks(kRanks, workers, [](Rank& rank) {
      // Everybody knows everybody's random numbers, so each rank knows what it must receive.
      constexpr int kRounds = 30, kPerRound = 8;
      std::vector<std::mt19937> random;
      for (int r = 0; r < kRanks; ++r) random.emplace_back(r);
      for (int round = 0; round < kRounds; ++round) {
        std::vector<Request*> pending;
        std::vector<MPI_Request> handles;
        std::vector<std::vector<char>> incoming, outgoing;
        std::vector<std::vector<char>> expected;
        incoming.reserve(kRanks * kPerRound);
        outgoing.reserve(kPerRound);
        for (int source = 0; source < kRanks; ++source) {
          for (int i = 0; i < kPerRound; ++i) {
            auto& r = random[static_cast<std::size_t>(source)];
            const int dest = static_cast<int>(r() % kRanks);
            const std::size_t size = r() % 3 == 0 ? r() % 20000 : r() % 300;
            const auto seed = static_cast<int>(r() % 100);
            if (dest == rank.world_rank) {
              incoming.emplace_back(size);
              expected.push_back(pattern(size, seed));
              pending.push_back(&create_request(
                  rank.world, {RequestKind::kRecv, SendMode::kStandard, incoming.back().data(),
                               static_cast<MPI_Count>(size), &bytes(), source, i}));
            }
            if (source == rank.world_rank) {
              outgoing.push_back(pattern(size, seed));
              pending.push_back(&create_request(
                  rank.world, {RequestKind::kSend, i % 2 ? SendMode::kSynchronous : SendMode::kStandard,
                               outgoing.back().data(), static_cast<MPI_Count>(size), &bytes(), dest, i}));
            }
          }
        }
        for (Request* request : pending) CHECK_FALSE(start(*request));
        if (round % 3 == 0) {
          wait_all(pending.data(), static_cast<int>(pending.size()));
        } else if (round % 3 == 1) {
          for (Request* request : pending) wait(*request);
        } else {
          std::vector<Request*> left = pending;
          while (!left.empty()) {
            wait_any(left.data(), static_cast<int>(left.size()));
            const auto before = left.size();
            std::erase_if(left, [](Request* request) { return request->done(); });
            CHECK(left.size() < before);
          }
        }
        for (Request* request : pending) {
          MPI_Request handle = handle_of(*request);
          CHECK_FALSE(conclude(handle, *request, MPI_STATUS_IGNORE));
          CHECK(handle == MPI_REQUEST_NULL);
        }
        CHECK(incoming == expected);
      }
    });
  }
}

TEST_CASE("cancel: a receive that nothing matches, a synchronous send that nobody receives") {
  testing::run_ranks(2, 2, [](Rank& rank) {
    if (rank.world_rank != 0) return;
    char byte = 0;
    for (RequestKind kind : {RequestKind::kRecv, RequestKind::kSend}) {
      Request& request =
          create_request(rank.world, {kind, SendMode::kSynchronous, &byte, 1, &bytes(), 1, 99});
      CHECK_FALSE(start(request));
      CHECK_FALSE(cancel(request));
      REQUIRE(request.done());
      CHECK(request.cancelled);
      MPI_Request handle = handle_of(request);
      MPI_Status status;
      CHECK_FALSE(conclude(handle, request, &status));
      CHECK(status_cancelled(status));
    }
  });
}

TEST_CASE("buffered sends live in the attached memory, and detaching waits for them") {
  testing::run_ranks(2, 2, [](Rank& rank) {
    if (rank.world_rank == 0) {
      std::vector<char> memory(30000);
      rank.buffer =
          std::make_unique<SendBuffer>(nullptr, memory.data(), static_cast<MPI_Count>(memory.size()));
      std::uint64_t serial = 0;
      for (int i = 0; i < 3; ++i)
        CHECK_FALSE(rank.buffer->send(rank.world, pattern(9000, i).data(), 9000, bytes(), 1, i, serial));
      CHECK(
          rank.buffer->send(rank.world, pattern(9000, 3).data(), 9000, bytes(), 1, 3, serial).error_class() ==
          MPI_ERR_BUFFER);
      send_bytes(rank.world, {}, 1, 10);
      rank.buffer->drain();
      CHECK_FALSE(rank.buffer->send(rank.world, pattern(9000, 3).data(), 9000, bytes(), 1, 3, serial));
      rank.buffer.reset();
    } else {
      (void)recv_bytes(rank.world, 0, 0, 10);
      for (int i : {2, 0, 1, 3}) CHECK(recv_bytes(rank.world, 9000, 0, i) == pattern(9000, i));
    }
  });
}

TEST_CASE("a matcher and a channel that one worker has used many times in a row are used by another one") {
  // Rows are long enough for OwnedLock where the process has a barrier; without one this holds as well.
  (void)tmpi::enable_process_barrier();
  constexpr int kRow = tmpi::OwnedLockSystem::kLongestRow + 100, kRounds = 3;
  testing::run_ranks(4, 2, [](Rank& rank) {
    const int me = rank.world_rank, near = me ^ 1, far = me ^ 2;
    const auto large = [](int from, int round) { return pattern(100000, 10 * from + round); };
    for (int round = 0; round < kRounds; ++round) {
      // Each message takes the lock twice, inside of the worker; between workers once, and the channel's.
      for (const int peer : {near, far}) {
        for (int i = 0; i < kRow; ++i) {
          int mine = 4 * i + me, theirs = -1;
          if (me < peer)
            CHECK_FALSE(send(rank.world, rank.world.context, &mine, sizeof mine, bytes(), peer, 0));
          CHECK_FALSE(recv(rank.world, rank.world.context, &theirs, sizeof theirs, bytes(), peer, 0,
                           MPI_STATUS_IGNORE));
          if (me > peer)
            CHECK_FALSE(send(rank.world, rank.world.context, &mine, sizeof mine, bytes(), peer, 0));
          REQUIRE(theirs == 4 * i + peer);
        }
        // The other worker's thread goes to the matcher itself, and delivers what lies in the channel before that.
        if (me < far) {
          send_bytes(rank.world, {1, 2, 3}, far, 1);
          send_bytes(rank.world, large(me, round), far, 1);
          REQUIRE(recv_bytes(rank.world, 100000, far, 1) == large(far, round));
        } else {
          REQUIRE(recv_bytes(rank.world, 3, far, 1) == std::vector<char>{1, 2, 3});
          REQUIRE(recv_bytes(rank.world, 100000, far, 1) == large(far, round));
          send_bytes(rank.world, large(me, round), far, 1);
        }
      }
    }
  });
}
