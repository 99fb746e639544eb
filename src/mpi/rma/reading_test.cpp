// Large puts and gets with --rndv read: they are read, in a queue, where both sides are one run of memory; else they go
// by pieces, also where memory cannot be exposed.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/base/info.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/remote/instance.hpp"
#include "mpi/remote/memory.hpp"
#include "mpi/remote/wire.hpp"
#include "mpi/rma/create.hpp"
#include "mpi/rma/operation.hpp"
#include "mpi/rma/synchronize.hpp"
#include "mpi/rma/wire.hpp"
#include "mpi/testing/nodes.hpp"

using namespace tmpi;
using namespace tmpi::mpi;

namespace {

constexpr MPI_Count kBytes = MPI_Count{1} << 20;

// A transport that exposes nothing if it is told so, and knows how much is being read.
class Watched final : public net::Transport {
 public:
  static inline bool exposes = true;
  static inline std::size_t under_way = 0, most_under_way = 0, longest_payload = 0;

  explicit Watched(std::unique_ptr<net::Transport> inner) : inner_(std::move(inner)) {}
  static Result<std::unique_ptr<net::Transport>> make(const net::Options& options, net::Sink& sink) {
    auto inner = net::create_transport(options, sink);
    if (!inner) return inner.failure();
    return std::unique_ptr<net::Transport>(new Watched(std::move(*inner)));
  }

  const net::Limits& limits() const noexcept override { return inner_->limits(); }
  std::string describe() const override { return inner_->describe(); }
  const std::string& address() const noexcept override { return inner_->address(); }
  Result<void> set_peers(std::vector<net::Peer> peers) override {
    return inner_->set_peers(std::move(peers));
  }
  net::Post send(int peer, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                 net::Completion* completion) noexcept override {
    for (const iovec& piece : payload) longest_payload = std::max(longest_payload, piece.iov_len);
    return inner_->send(peer, id, header, payload, completion);
  }
  Result<net::RemoteKey> expose(int peer, const void* buffer, std::size_t bytes) override {
    if (!exposes) return Failure{"no more memory can be registered"};
    return inner_->expose(peer, buffer, bytes);
  }
  void conceal(const net::RemoteKey& key) noexcept override { inner_->conceal(key); }
  net::Post get(int peer, const net::RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
                net::Completion* completion) noexcept override {
    auto* const get = new Get;
    get->bytes = bytes;
    get->whose = completion;
    get->done = [](net::Completion& self) noexcept {
      const std::unique_ptr<Get> over(&static_cast<Get&>(self));
      under_way -= over->bytes;
      over->whose->done(*over->whose);
    };
    const net::Post post = inner_->get(peer, key, remote, buffer, bytes, get);
    if (post != net::Post::kInProgress) {
      delete get;
      return post;
    }
    under_way += bytes;
    most_under_way = std::max(most_under_way, under_way);
    return post;
  }
  bool poll() noexcept override { return inner_->poll(); }
  net::Arming arm(bool patient) noexcept override { return inner_->arm(patient); }
  bool idle() const noexcept override { return inner_->idle(); }
  bool close(double seconds) noexcept override { return inner_->close(seconds); }
  Traffic traffic() const noexcept override { return inner_->traffic(); }

 private:
  struct Get : net::Completion {
    std::size_t bytes = 0;
    net::Completion* whose = nullptr;
  };
  std::unique_ptr<net::Transport> inner_;
};

const Datatype& byte_type() {
  return *datatype_from(MPI_BYTE);
}

// Each of two ranks has a window of `bytes` at the other one, in an epoch of lock_all.
void with_window(bool exposes, sched::Progress progress, MPI_Count bytes,
                 void (*body)(Rank& rank, Window& window, std::vector<char>& memory),
                 remote::Engine::Lost lost = nullptr) {
  Watched::exposes = exposes;
  testing::NodesOptions options{.nodes = 2, .ranks = 2, .net = "sim"};
  options.settings = {.eager_limit = 1000, .rendezvous = remote::Rendezvous::kRead};
  options.settings.beside = progress != sched::Progress::kPoll;
  options.progress = progress;
  options.make = Watched::make;
  options.lost = lost;
  static MPI_Count size;
  static void (*run)(Rank&, Window&, std::vector<char>&);
  size = bytes;
  run = body;
  testing::run_nodes(options, [](Rank& rank) {
    std::vector<char> memory(static_cast<std::size_t>(size), static_cast<char>('a' + rank.world_rank));
    Window* window = nullptr;
    REQUIRE_FALSE(create_window(rank.world, {.base = memory.data(), .size = size}, Info(), window));
    REQUIRE_FALSE(lock_all(*window, 0));
    run(rank, *window, memory);
    CHECK_FALSE(unlock_all(*window));
    bool ended = false;
    CHECK_FALSE(end_window(*window, ended));
    if (ended) destroy_window(window);
  });
}

// A get of what is there, and a put of something else to it; then the other side has that.
void get_and_put(Rank& rank, Window& window, const Spot& there) {
  std::vector<char> buffer(static_cast<std::size_t>(kBytes));
  const Data data{buffer.data(), kBytes, &byte_type()};
  CHECK_FALSE(get(window, data, there, nullptr));
  CHECK_FALSE(flush(window, there.rank, Flush::kEverywhere));
  CHECK(std::count(buffer.begin(), buffer.end(), static_cast<char>('a' + there.rank)) == kBytes);
  std::fill(buffer.begin(), buffer.end(), static_cast<char>('A' + rank.world_rank));
  CHECK_FALSE(barrier(rank.world));
  CHECK_FALSE(put(window, data, there, nullptr));
  CHECK_FALSE(flush(window, there.rank, Flush::kEverywhere));
  CHECK_FALSE(barrier(rank.world));
}

void contiguous(Rank& rank, Window& window, std::vector<char>& memory) {
  const int other = 1 - rank.world_rank;
  get_and_put(rank, window, {other, 0, kBytes, &byte_type()});
  CHECK(std::count(memory.begin(), memory.end(), static_cast<char>('A' + other)) == kBytes);
  const remote::ProtocolCounters counters = remote::counters();
  CHECK(counters.reads == (Watched::exposes ? 2 : 0));
  CHECK(counters.read_bytes == (Watched::exposes ? 2 * kBytes : 0));
}

void scattered(Rank& rank, Window& window, std::vector<char>& memory) {
  const int other = 1 - rank.world_rank;
  Datatype* every_second = nullptr;
  REQUIRE_FALSE(construct_vector<int>(4096, 256, 512, byte_type(), every_second));
  get_and_put(rank, window, {other, 0, 1, every_second});
  every_second->release();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const char expected = static_cast<char>(i % 512 < 256 ? 'A' + other : 'a' + rank.world_rank);
    if (memory[i] != expected) FAIL("byte " << i << " is wrong");
  }
  CHECK(remote::counters().reads == 0);
  CHECK(Watched::longest_payload <= static_cast<std::size_t>(remote::kSegment));
}

// Both at once, each in turn, of memory of its own.
void many(Rank& rank, Window& window, std::vector<char>&) {
  constexpr int kMany = 32;
  const int other = 1 - rank.world_rank;
  std::vector<char> buffer(static_cast<std::size_t>(kBytes) * kMany, 'x');
  for (int i = 0; i < kMany; ++i) {
    const Data data{buffer.data() + i * kBytes, kBytes, &byte_type()};
    CHECK_FALSE(get(window, data, {other, 0, kBytes, &byte_type()}, nullptr));
  }
  CHECK_FALSE(flush(window, other, Flush::kEverywhere));
  CHECK(std::count(buffer.begin(), buffer.end(), static_cast<char>('a' + other)) == kBytes * kMany);
  CHECK(Watched::most_under_way > 0);
  CHECK(Watched::most_under_way <= std::size_t{2} << 20);
}

// Node 1 answers a get with its memory, as it was asked to, and then with data: the operation is being read into. Rank 0
// has to notice, and loses node 1.
void noticed(int, const std::string& why) noexcept {
  const bool said = why.find("makes no sense") != std::string::npos;
  _exit(job()->placement().node() == 0 && !said ? 1 : 0);
}

void answer_twice(Rank& rank, Window& window, std::vector<char>& memory) {
  char never = 0;
  if (rank.world_rank == 0) {
    std::vector<char> buffer(memory.size());
    const MPI_Count bytes = static_cast<MPI_Count>(buffer.size());
    CHECK_FALSE(get(window, {buffer.data(), bytes, &byte_type()}, {1, 0, bytes, &byte_type()}, nullptr));
    CHECK_FALSE(send(rank.world, rank.world.context, &never, 1, byte_type(), 1, 7, SendMode::kStandard));
    (void)flush(window, 1, Flush::kEverywhere).error_class();
    FAIL("nobody has noticed");
  }
  CHECK_FALSE(recv(rank.world, rank.world.context, &never, 1, byte_type(), 0, 7, MPI_STATUS_IGNORE));
  rma::Header header;
  header.window = window.members->context;
  header.what = rma::What::kReply;
  header.id = std::uint64_t{1} << 32;  // the first operation of node 0
  header.bytes = 100;
  header.from = 1;
  const iovec payload{memory.data(), 100};
  (void)remote::engine()->wire().send(0, static_cast<std::uint8_t>(remote::Kind::kOneSided),
                                      std::as_bytes(std::span(&header, 1)), {&payload, 1}, nullptr);
  (void)recv(rank.world, rank.world.context, &never, 1, byte_type(), 0, 8, MPI_STATUS_IGNORE).error_class();
}

}  // namespace

TEST_CASE("a large put or get of one run at both sides is read") {
  with_window(true, sched::Progress::kPoll, kBytes, contiguous);
}

TEST_CASE("where memory cannot be exposed it goes by messages") {
  with_window(false, sched::Progress::kPoll, kBytes, contiguous);
}

TEST_CASE("what is scattered at the target goes by pieces") {
  with_window(true, sched::Progress::kPoll, 2 * kBytes, scattered);
}

TEST_CASE("many large gets are read one after the other where somebody watches the network") {
  with_window(true, sched::Progress::kThread, kBytes, many);
}

TEST_CASE("data for an operation that is being read into are noticed") {
  with_window(true, sched::Progress::kPoll, 64 * kBytes, answer_twice, noticed);
}
