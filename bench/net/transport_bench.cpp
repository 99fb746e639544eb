// Ping-pong between two processes on a bare transport: what is left for MPI to add to. Half of a round trip
// is the time of one message; median and minimum of the batches are printed, as bench/pingpong.c does.
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "net/proof.hpp"
#include "net/transport.hpp"

namespace {

using namespace tmpi::net;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const std::string& why) {
  fmt::print(stderr, "bench_transport: {}\n", why);
  _exit(1);
}

struct Sent : Completion {
  bool pending = false;
  Sent() {
    done = [](Completion& self) noexcept { static_cast<Sent&>(self).pending = false; };
  }
};

// One end: receives into one buffer, sends from another.
class End final : public Sink {
 public:
  End(const std::string& spec, int node, const Secret& secret, std::size_t most)
      : in_(most, 1), out_(most, 2), peer_(1 - node) {
    Options options;
    options.spec = spec;
    options.node = node;
    options.nodes = 2;
    options.job = static_cast<std::uint64_t>(getpgid(0));
    options.secret = secret;
    auto made = create_transport(options, *this);
    if (!made) fail(made.message());
    net_ = *std::move(made);
  }
  // Tells the other process the address, and hears its.
  void wire_up(int fd) {
    char address[1024] = {};
    net_->address().copy(address, sizeof address - 1);
    if (write(fd, address, sizeof address) != sizeof address) fail("wire-up");
    if (read(fd, address, sizeof address) != sizeof address) fail("wire-up");
    std::vector<Peer> peers(2, Peer{net_->address(), "here"});
    peers[static_cast<std::size_t>(peer_)].address = address;
    if (const auto set = net_->set_peers(peers); !set) fail(set.message());
  }
  void send(std::size_t bytes) {
    const char header[32] = {};
    const iovec part{out_.data(), bytes};
    Post post;
    while ((post = net_->send(peer_, 1, std::as_bytes(std::span(header)), {&part, 1}, &sent_)) ==
           Post::kNoResource)
      net_->poll();
    sent_.pending = post == Post::kInProgress;
  }
  void receive() {
    while (landed_ == 0 || sent_.pending) net_->poll();
    --landed_;
  }
  void close() { net_->close(5); }
  std::string describe() const { return net_->describe(); }

 private:
  Landing arriving(int, std::uint8_t, std::span<const std::byte>, std::size_t) noexcept override {
    return {in_.data(), in_.size(), nullptr};
  }
  void landed(int, void*) noexcept override { ++landed_; }
  void lost(int, const std::string& why) noexcept override { fail(why); }

  std::vector<char> in_, out_;
  int peer_;
  std::unique_ptr<Transport> net_;
  Sent sent_;
  int landed_ = 0;
};

struct Plan {
  std::string spec = "tcp";
  std::vector<std::size_t> sizes;
  int batches = 15;
  bool pin = true;
};

std::size_t to_bytes(const std::string& text) {
  char* end = nullptr;
  const std::size_t value = std::strtoull(text.c_str(), &end, 10);
  return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

Plan parse(int argc, char** argv) {
  Plan plan;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--net")
      plan.spec = value;
    else if (option == "--batches")
      plan.batches = std::max(1, std::atoi(value.c_str()));
    else if (option == "--pin")
      plan.pin = value == "1";
    else if (option == "--sizes") {
      for (std::size_t at = 0; at <= value.size();) {
        const std::size_t comma = std::min(value.find(',', at), value.size());
        plan.sizes.push_back(to_bytes(value.substr(at, comma - at)));
        at = comma + 1;
      }
    } else
      fail("usage: bench_transport [--net SPEC] [--sizes 8,64K,1M] [--batches N] [--pin 0|1]");
  }
  if (plan.sizes.empty())
    for (std::size_t size = 8; size <= 4 << 20; size *= 8) plan.sizes.push_back(size);
  return plan;
}

void run(const Plan& plan, int node, int fd, const Secret& secret) {
  if (plan.pin) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(node) % static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN)), &set);
    sched_setaffinity(0, sizeof set, &set);
  }
  End end(plan.spec, node, secret, *std::max_element(plan.sizes.begin(), plan.sizes.end()));
  end.wire_up(fd);
  if (node == 0)
    fmt::print("{}\n{:>10} {:>12} {:>12} {:>12}\n", end.describe(), "bytes", "median us", "least us", "MB/s");
  for (const std::size_t size : plan.sizes) {
    const long reps =
        std::clamp<long>(static_cast<long>((8 << 20) / std::max<std::size_t>(size, 1)), 10, 2000);
    std::vector<double> times;
    for (int batch = -2; batch < plan.batches; ++batch) {
      const double start = seconds();
      for (long i = 0; i < reps; ++i) {
        if (node == 0) end.send(size);
        end.receive();
        if (node == 1) end.send(size);
      }
      if (batch >= 0) times.push_back((seconds() - start) / static_cast<double>(2 * reps) * 1e6);
    }
    std::sort(times.begin(), times.end());
    if (node == 0)
      fmt::print("{:>10} {:>12.2f} {:>12.2f} {:>12.1f}\n", size, times[times.size() / 2], times[0],
                 static_cast<double>(size) / times[times.size() / 2]);
  }
  end.close();
}

}  // namespace

int main(int argc, char** argv) {
  const Plan plan = parse(argc, argv);
  if (!prepare_proofs()) fail("no random numbers");
  const Secret secret = *Secret::draw();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("socketpair");
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(plan, 1, ends[1], secret);
    return 0;
  }
  run(plan, 0, ends[0], secret);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
