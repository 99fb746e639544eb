// Messages between node processes: every protocol over every transport, with the layouts, sizes, wildcards,
// probes and cancels of MPI. The network is real, the node processes are forked (mpi/testing/nodes.hpp).
#include "mpi/remote/remote.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "base/sanitized.hpp"
#include "mpi/base/status.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/probe.hpp"
#include "mpi/testing/bytes.hpp"
#include "mpi/testing/flaky.hpp"
#include "mpi/testing/nodes.hpp"

using namespace tmpi::mpi;
using remote::Rendezvous;
using testing::NodesOptions;

namespace {

using testing::bytes;
using testing::pattern;
using testing::recv_bytes;
using testing::send_bytes;
using tmpi::kSanitized;

constexpr MPI_Count kEager = 8192;
// Many segments, of whatever transport.
constexpr std::size_t kLargest = kSanitized ? 300'000 : 3'000'000;

struct Case {
  const char* net;
  Rendezvous rendezvous;
  bool always;  // the others: every_variant()
  remote::Engine::MakeTransport make = tmpi::net::create_transport;
  tmpi::sched::Progress progress = tmpi::sched::Progress::kPoll;
};
constexpr const char* kSim = "sim:latency=2us,bandwidth=7GB/s";
constexpr auto kThread = tmpi::sched::Progress::kThread;
constexpr Case kCases[] = {{"tcp", Rendezvous::kRtsCts, true},
                           {"tcp", Rendezvous::kEarlyCts, false},
                           {kSim, Rendezvous::kRtsCts, false},
                           {kSim, Rendezvous::kRead, true, tmpi::net::create_transport, kThread},
                           {kSim, Rendezvous::kEarlyCts, true},
                           {"tcp", Rendezvous::kRtsCts, false, testing::make_flaky, kThread},
                           {kSim, Rendezvous::kRead, false, testing::make_flaky},
                           {"tcp", Rendezvous::kEarlyCts, true, testing::make_flaky, kThread}};

// Runs the body once for each transport and protocol; where not every variant is wanted, for each of either, with and
// without a progress thread.
void everywhere(int nodes, int ranks, int workers, const std::function<void(Rank&)>& body) {
  for (const Case& c : kCases) {
    if (!c.always && !tmpi::every_variant()) continue;
    CAPTURE(std::string(c.net));
    CAPTURE(static_cast<int>(c.rendezvous));
    testing::run_nodes(
        {.nodes = nodes,
         .ranks = ranks,
         .workers = workers,
         .net = c.net,
         .settings = {.eager_limit = kEager, .rendezvous = c.rendezvous, .beside = c.progress == kThread},
         .progress = c.progress,
         .make = c.make},
        body);
  }
}

// Every second int of a buffer: a layout with holes.
struct Strided {
  Datatype* type = nullptr;
  Strided() {
    CHECK_FALSE(construct_vector<int>(1, 1, 2, *datatype_from(MPI_INT), type));
    CHECK_FALSE(construct_resized(*type, 0, 8, false, type));
    type->commit();
  }
};

std::vector<int> numbers(std::size_t n, int seed) {
  std::vector<int> data(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<int>(i) * 3 + seed;
  return data;
}

Request& begin(Comm& comm, RequestKind kind, const void* buffer, MPI_Count count, const Datatype& type,
               int peer, int tag, SendMode mode = SendMode::kStandard) {
  Request& request = create_request(comm, {kind, mode, buffer, count, &type, peer, tag});
  CHECK_FALSE(start(request));
  return request;
}

MPI_Status finish(Request& request) {
  wait(request);
  MPI_Request handle = handle_of(request);
  MPI_Status status{};
  CHECK_FALSE(conclude(handle, request, &status));
  return status;
}

}  // namespace

TEST_CASE("ping-pong of all sizes around the protocol limits, every mode") {
  everywhere(2, 2, 1, [](Rank& rank) {
    for (const std::size_t size : std::initializer_list<std::size_t>{0, 1, 8, 255, 4096, 8191, 8192, 8193,
                                                                     100000, 262144, 262145, kLargest}) {
      for (SendMode mode : {SendMode::kStandard, SendMode::kSynchronous, SendMode::kReady}) {
        const int other = 1 - rank.world_rank;
        if (rank.world_rank == 0) send_bytes(rank.world, pattern(size, 1), other, 3, mode);
        CHECK(recv_bytes(rank.world, size + 10, other, 3) == pattern(size, rank.world_rank == 0 ? 2 : 1));
        if (rank.world_rank == 1) send_bytes(rank.world, pattern(size, 2), other, 3, mode);
      }
    }
  });
}

TEST_CASE("layouts: contiguous and with holes, on either side, small and in many segments") {
  everywhere(2, 2, 1, [](Rank& rank) {
    const Strided strided;
    const Datatype& ints = *datatype_from(MPI_INT);
    for (const std::size_t n : std::initializer_list<std::size_t>{1, 100, 2500, kLargest / 10}) {
      for (int holes = 0; holes < 4; ++holes) {
        const bool here = (rank.world_rank == 0 ? holes & 1 : holes & 2) != 0;
        const auto count = static_cast<MPI_Count>(n);
        std::vector<int> buffer(2 * n, -1);
        const std::vector<int> data = numbers(n, holes);
        if (rank.world_rank == 0) {
          for (std::size_t i = 0; i < n; ++i) buffer[here ? 2 * i : i] = data[i];
          CHECK_FALSE(
              send(rank.world, rank.world.context, buffer.data(), count, here ? *strided.type : ints, 1, 5));
        } else {
          MPI_Status status;
          CHECK_FALSE(recv(rank.world, rank.world.context, buffer.data(), count, here ? *strided.type : ints,
                           0, 5, &status));
          CHECK(status_bytes(status) == count * 4);
          std::vector<int> got(n);
          for (std::size_t i = 0; i < n; ++i) got[i] = buffer[here ? 2 * i : i];
          CHECK(got == data);
          if (here) CHECK(buffer[2 * n - 1] == -1);
        }
      }
    }
  });
}

TEST_CASE("truncation is the receiver's error and drops the rest, in every protocol and layout") {
  everywhere(2, 2, 1, [](Rank& rank) {
    const Strided strided;
    for (bool first : {false, true}) {  // is the receive posted first?
      for (const std::size_t size : std::initializer_list<std::size_t>{400, 40000, kLargest / 3 * 2}) {
        if (rank.world_rank == 0) {
          if (first) (void)recv_bytes(rank.world, 0, 1, 1);
          send_bytes(rank.world, pattern(size, 1), 1, 0);
          send_bytes(rank.world, pattern(size, 2), 1, 0, SendMode::kSynchronous);
          send_bytes(rank.world, pattern(size, 3), 1, 0);
          if (!first) send_bytes(rank.world, {}, 1, 1);
        } else {
          std::vector<char> small(size / 2 + 1, 'x');
          std::vector<int> holes(size / 4, -1);
          std::vector<Request*> requests;
          Envelope envelope;
          if (!first) probe(rank.world, 0, 0, envelope);
          requests.push_back(&begin(rank.world, RequestKind::kRecv, small.data(),
                                    static_cast<MPI_Count>(size / 2), bytes(), 0, 0));
          requests.push_back(&begin(rank.world, RequestKind::kRecv, holes.data(),
                                    static_cast<MPI_Count>(size / 8), *strided.type, 0, 0));
          requests.push_back(&begin(rank.world, RequestKind::kRecv, nullptr, 0, bytes(), 0, 0));
          if (first) send_bytes(rank.world, {}, 0, 1);
          std::size_t expected[] = {size / 2, size / 8 * 4, 0};
          for (std::size_t i = 0; i < 3; ++i) {
            wait(*requests[i]);
            MPI_Request handle = handle_of(*requests[i]);
            MPI_Status status;
            CHECK(conclude(handle, *requests[i], &status).error_class() == MPI_ERR_TRUNCATE);
            CHECK(status_bytes(status) == static_cast<MPI_Count>(expected[i]));
          }
          CHECK(small.back() == 'x');
          small.pop_back();
          std::vector<char> whole = pattern(size, 1);
          whole.resize(size / 2);
          CHECK(small == whole);
          if (!first) (void)recv_bytes(rank.world, 0, 0, 1);
        }
      }
    }
  });
}

TEST_CASE("order of one sender under mixed sizes and modes, wildcards, probe and matched probe") {
  everywhere(3, 5, 2, [](Rank& rank) {
    constexpr int kMessages = kSanitized ? 36 : 120;
    const auto size_of = [](int i) {
      return static_cast<std::size_t>(i % 7 == 0 ? 20000 + i : i * 160 % 9000);
    };
    if (rank.world_rank != 0) {
      std::vector<std::vector<char>> data;
      std::vector<Request*> requests;
      for (int i = 0; i < kMessages; ++i) {
        data.push_back(pattern(size_of(i), i));
        requests.push_back(&begin(rank.world, RequestKind::kSend, data.back().data(),
                                  static_cast<MPI_Count>(data.back().size()), bytes(), 0, i % 3,
                                  i % 5 == 0 ? SendMode::kSynchronous : SendMode::kStandard));
      }
      for (Request* request : requests) (void)finish(*request);
      return;
    }
    std::vector<int> seen(5 * 3, 0);
    for (int i = 0; i < 4 * kMessages; ++i) {
      Envelope envelope;
      MPI_Status status;
      std::vector<char> data(21000);
      if (i % 3 == 0) {
        Message* message = mprobe(rank.world, MPI_ANY_SOURCE, MPI_ANY_TAG, envelope);
        REQUIRE(message != nullptr);
        Request& request = create_request(rank.world, {RequestKind::kMrecv, SendMode::kStandard, data.data(),
                                                       21000, &bytes(), MPI_ANY_SOURCE, MPI_ANY_TAG});
        if (accept(request, *message)) request.complete();
        status = finish(request);
        CHECK(status_bytes(status) == envelope.bytes);
        data.resize(static_cast<std::size_t>(status_bytes(status)));
      } else {
        if (i % 3 == 1) probe(rank.world, MPI_ANY_SOURCE, MPI_ANY_TAG, envelope);
        data = recv_bytes(rank.world, 21000, i % 3 == 1 ? envelope.source : MPI_ANY_SOURCE,
                          i % 3 == 1 ? envelope.tag : MPI_ANY_TAG, &status);
        if (i % 3 == 1) CHECK(status_bytes(status) == envelope.bytes);
      }
      int& n = seen[static_cast<std::size_t>(status.MPI_SOURCE * 3 + status.MPI_TAG)];
      const int index = n++ * 3 + status.MPI_TAG;
      CHECK(data == pattern(size_of(index), index));
    }
    Envelope none;
    CHECK_FALSE(iprobe(rank.world, MPI_ANY_SOURCE, MPI_ANY_TAG, none));
  });
}

TEST_CASE("random traffic between many ranks of several nodes") {
  everywhere(3, 9, 2, [](Rank& rank) {
    constexpr int kRanks = 9, kRounds = kSanitized ? 2 : 10, kPerRound = 8;
    std::vector<std::mt19937> random;
    for (int r = 0; r < kRanks; ++r) random.emplace_back(r);
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Request*> pending;
      std::vector<std::vector<char>> incoming, outgoing, expected;
      incoming.reserve(kRanks * kPerRound);
      outgoing.reserve(kPerRound);
      for (int source = 0; source < kRanks; ++source) {
        for (int i = 0; i < kPerRound; ++i) {
          auto& r = random[static_cast<std::size_t>(source)];
          const int dest = static_cast<int>(r() % kRanks);
          const std::size_t size = r() % 3 == 0 ? r() % (kSanitized ? 100000 : 400000) : r() % 300;
          const auto seed = static_cast<int>(r() % 100);
          if (dest == rank.world_rank) {
            incoming.emplace_back(size);
            expected.push_back(pattern(size, seed));
            pending.push_back(&begin(rank.world, RequestKind::kRecv, incoming.back().data(),
                                     static_cast<MPI_Count>(size), bytes(), source, i));
          }
          if (source == rank.world_rank) {
            outgoing.push_back(pattern(size, seed));
            pending.push_back(&begin(rank.world, RequestKind::kSend, outgoing.back().data(),
                                     static_cast<MPI_Count>(size), bytes(), dest, i,
                                     i % 2 ? SendMode::kSynchronous : SendMode::kStandard));
          }
        }
      }
      for (Request* request : pending) (void)finish(*request);
      CHECK(incoming == expected);
    }
  });
}

TEST_CASE("cancel: receives, and sends of every kind, before and after they are matched") {
  everywhere(2, 2, 1, [](Rank& rank) {
    for (std::size_t size : {10, 100000}) {
      for (SendMode mode : {SendMode::kStandard, SendMode::kSynchronous}) {
        const std::vector<char> data = pattern(size, 4);
        if (rank.world_rank == 0) {
          // Nobody receives the first; the second is received; the third too, but only after the answer.
          Request& lost = begin(rank.world, RequestKind::kSend, data.data(), static_cast<MPI_Count>(size),
                                bytes(), 1, 9, mode);
          CHECK_FALSE(cancel(lost));
          CHECK_FALSE(cancel(lost));
          CHECK(status_cancelled(finish(lost)));
          send_bytes(rank.world, {}, 1, 3);
          Request& taken = begin(rank.world, RequestKind::kSend, data.data(), static_cast<MPI_Count>(size),
                                 bytes(), 1, 9, mode);
          (void)recv_bytes(rank.world, 0, 1, 1);
          CHECK_FALSE(cancel(taken));
          CHECK_FALSE(status_cancelled(finish(taken)));
          send_bytes(rank.world, {}, 1, 2);
          (void)recv_bytes(rank.world, 0, 1, 4);
        } else {
          (void)recv_bytes(rank.world, 0, 0, 3);
          CHECK(recv_bytes(rank.world, size, 0, 9) == data);
          send_bytes(rank.world, {}, 0, 1);
          (void)recv_bytes(rank.world, 0, 0, 2);
          Envelope none;
          CHECK_FALSE(iprobe(rank.world, MPI_ANY_SOURCE, MPI_ANY_TAG, none));
          send_bytes(rank.world, {}, 0, 4);
          std::vector<char> buffer(size);
          Request& receive = begin(rank.world, RequestKind::kRecv, buffer.data(),
                                   static_cast<MPI_Count>(size), bytes(), 0, 77);
          CHECK_FALSE(cancel(receive));
          CHECK(status_cancelled(finish(receive)));
        }
      }
    }
  });
}

TEST_CASE("buffered sends, their draining, and cancelling them") {
  everywhere(2, 2, 1, [](Rank& rank) {
    if (rank.world_rank == 0) {
      std::vector<char> memory(60000);
      rank.buffer =
          std::make_unique<SendBuffer>(nullptr, memory.data(), static_cast<MPI_Count>(memory.size()));
      std::uint64_t serial = 0;
      for (int i = 0; i < 3; ++i)
        CHECK_FALSE(rank.buffer->send(rank.world, pattern(20000, i).data(), 20000, bytes(), 1, i, serial));
      send_bytes(rank.world, {}, 1, 10);
      rank.buffer->drain();
      for (std::size_t size : {100, 20000}) {
        const std::vector<char> data = pattern(size, 3);
        Request& lost = begin(rank.world, RequestKind::kSend, data.data(), static_cast<MPI_Count>(size),
                              bytes(), 1, 9, SendMode::kBuffered);
        CHECK(lost.done());
        CHECK_FALSE(cancel(lost));
        CHECK(status_cancelled(finish(lost)));
      }
      rank.buffer.reset();
      send_bytes(rank.world, {}, 1, 11);
    } else {
      (void)recv_bytes(rank.world, 0, 0, 10);
      for (int i : {2, 0, 1}) CHECK(recv_bytes(rank.world, 20000, 0, i) == pattern(20000, i));
      (void)recv_bytes(rank.world, 0, 0, 11);
      Envelope none;
      CHECK_FALSE(iprobe(rank.world, MPI_ANY_SOURCE, MPI_ANY_TAG, none));
    }
  });
}

TEST_CASE("a sender that runs ahead stops being buffered, and never blocks for ever") {
  everywhere(2, 2, 1, [](Rank& rank) {
    constexpr int kMessages = kSanitized ? 500 : 3000,
                  kAhead = 400;  // 3.2 MB ahead, more than may be buffered
    if (rank.world_rank == 0) {
      std::vector<std::vector<char>> data;
      std::vector<Request*> ahead;
      for (int i = 0; i < kAhead; ++i) {
        data.push_back(pattern(8000, i));
        ahead.push_back(&begin(rank.world, RequestKind::kSend, data.back().data(), 8000, bytes(), 1, 0));
      }
      CHECK(remote::counters().rendezvous > 0);  // nothing is received yet
      send_bytes(rank.world, {}, 1, 1);
      for (Request* request : ahead) (void)finish(*request);
      for (int i = kAhead; i < kMessages; ++i) send_bytes(rank.world, pattern(8000, i), 1, 0);
    } else {
      (void)recv_bytes(rank.world, 0, 0, 1);
      CHECK(rank.matcher.buffered_bytes() > 1'900'000);
      for (int i = 0; i < 1000; ++i) {
        CHECK(rank.matcher.buffered_bytes() < (std::size_t{3} << 20));
        tmpi::sched::yield();
      }
      for (int i = 0; i < kMessages; ++i) REQUIRE(recv_bytes(rank.world, 8000, 0, 0) == pattern(8000, i));
    }
  });
}
