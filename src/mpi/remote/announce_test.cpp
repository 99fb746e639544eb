// Which way a large message takes: announced receives are sent to at once, others ask first, and readers
// read.
#include <doctest/doctest.h>

#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/testing/nodes.hpp"

using namespace tmpi::mpi;
using remote::Rendezvous;

namespace {

constexpr MPI_Count kEager = 1000, kLarge = 100'000;

const Datatype& bytes() {
  return *datatype_from(MPI_BYTE);
}

void send_bytes(Rank& rank, MPI_Count size, int dest, int tag, SendMode mode = SendMode::kStandard) {
  const std::vector<char> data(static_cast<std::size_t>(size), static_cast<char>(tag));
  CHECK_FALSE(send(rank.world, rank.world.context, data.data(), size, bytes(), dest, tag, mode));
}

void signal(Rank& rank, int dest) {
  send_bytes(rank, 0, dest, 1000);
}
void await(Rank& rank, int source) {
  CHECK_FALSE(recv(rank.world, rank.world.context, nullptr, 0, bytes(), source, 1000, MPI_STATUS_IGNORE));
}

struct Receive {
  std::vector<char> buffer = std::vector<char>(static_cast<std::size_t>(kLarge));
  Request* request;

  Receive(Rank& rank, int source, int tag)
      : request(&create_request(rank.world, {RequestKind::kRecv, SendMode::kStandard, buffer.data(), kLarge,
                                             &bytes(), source, tag})) {
    CHECK_FALSE(start(*request));
  }
  MPI_Count finish() {
    wait(*request);
    const MPI_Count got = request->bytes;
    CHECK(
        (got == 0 || buffer[static_cast<std::size_t>(got - 1)] == static_cast<char>(request->received_tag)));
    MPI_Request handle = handle_of(*request);
    CHECK_FALSE(conclude(handle, *request, MPI_STATUS_IGNORE));
    return got;
  }
};

void run(Rendezvous rendezvous, const char* net, const std::function<void(Rank&)>& body) {
  testing::run_nodes(
      {.nodes = 2, .ranks = 2, .net = net, .settings = {.eager_limit = kEager, .rendezvous = rendezvous}},
      body);
}

}  // namespace

TEST_CASE("early-cts: a posted receive is sent to at once; one that is not announced is asked for") {
  run(Rendezvous::kEarlyCts, "tcp", [](Rank& rank) {
    if (rank.world_rank == 1) {
      Receive first(rank, 0, 5), second(rank, 0, 5), any(rank, MPI_ANY_SOURCE, 6);
      signal(rank, 0);
      CHECK(first.finish() == kLarge);
      CHECK(second.finish() == 10);
      CHECK(any.finish() == kLarge);
      Receive third(rank, 0, 5);
      signal(rank, 0);
      CHECK(third.finish() == kLarge);
      return;
    }
    await(rank, 1);
    send_bytes(rank, kLarge, 1, 5);
    CHECK(remote::counters().early == 1);
    CHECK(remote::counters().early_bytes == kLarge);
    send_bytes(rank, 10, 1, 5);      // takes the second receive, and its announcement
    send_bytes(rank, kLarge, 1, 6);  // a wildcard is not announced
    CHECK(remote::counters().early == 1);
    CHECK(remote::counters().rendezvous == 1);
    await(rank, 1);
    send_bytes(rank, kLarge, 1, 5, SendMode::kSynchronous);  // must be matched for certain
    CHECK(remote::counters().early == 1);
    CHECK(remote::counters().rendezvous == 2);
  });
}

TEST_CASE("early-cts: a receive that is cancelled is no longer announced") {
  run(Rendezvous::kEarlyCts, "tcp", [](Rank& rank) {
    if (rank.world_rank == 1) {
      Receive taken_back(rank, 0, 5);
      CHECK_FALSE(cancel(*taken_back.request));
      CHECK(taken_back.finish() == 0);
      signal(rank, 0);
      await(rank, 0);
      CHECK(Receive(rank, 0, 5).finish() == kLarge);
      return;
    }
    await(rank, 1);
    signal(rank, 1);
    send_bytes(rank, kLarge, 1, 5);
    CHECK(remote::counters().early == 0);
    CHECK(remote::counters().rendezvous == 1);
  });
}

TEST_CASE(
    "early-cts: a message that was under way when its receive was announced leaves no announcement behind") {
  run(Rendezvous::kEarlyCts, "tcp", [](Rank& rank) {
    if (rank.world_rank == 1) {
      // Small messages may cross the announcements of the receives that they take.
      for (int i = 0; i < 100; ++i) CHECK(Receive(rank, 0, 5).finish() == 10);
      signal(rank, 0);
      await(rank, 0);
      CHECK(Receive(rank, 0, 5).finish() == kLarge);
      return;
    }
    for (int i = 0; i < 100; ++i) send_bytes(rank, 10, 1, 5);
    await(rank, 1);
    const auto before = remote::counters();
    const std::vector<char> data(static_cast<std::size_t>(kLarge), 5);
    Request& request = create_request(
        rank.world, {RequestKind::kSend, SendMode::kStandard, data.data(), kLarge, &bytes(), 1, 5});
    CHECK_FALSE(start(request));
    CHECK(remote::counters().early == before.early);
    CHECK(remote::counters().rendezvous == before.rendezvous + 1);
    signal(rank, 1);
    wait(request);
    MPI_Request handle = handle_of(request);
    CHECK_FALSE(conclude(handle, request, MPI_STATUS_IGNORE));
  });
}

TEST_CASE("read: the receiver reads, whether the receive is posted before or after") {
  run(Rendezvous::kRead, "sim:latency=2us,bandwidth=7GB/s", [](Rank& rank) {
    if (rank.world_rank == 1) {
      Receive first(rank, 0, 5);
      signal(rank, 0);
      CHECK(first.finish() == kLarge);
      await(rank, 0);
      CHECK(Receive(rank, 0, 5).finish() == kLarge);
      CHECK(remote::counters().reads == 2);
      CHECK(remote::counters().read_bytes == 2 * kLarge);
      return;
    }
    await(rank, 1);
    send_bytes(rank, kLarge, 1, 5);
    signal(rank, 1);
    send_bytes(rank, kLarge, 1, 5);
    CHECK(remote::counters().rendezvous == 2);
    CHECK(remote::counters().eager_bytes == 0);
  });
}

TEST_CASE("--rndv read needs a transport that can") {
  testing::run_nodes({.nodes = 1,
                      .ranks = 1,
                      .finally =
                          [] {
                            tmpi::net::Options options;
                            options.spec = "tcp";
                            const auto begun = remote::begin(options, {.rendezvous = Rendezvous::kRead});
                            CHECK_FALSE(begun);
                            CHECK(begun.message().find("--rndv read") != std::string::npos);
                          }},
                     [](Rank&) {});
}
