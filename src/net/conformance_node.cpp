#include "net/conformance_node.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "net/proof.hpp"

namespace tmpi::net::conformance {

// Nobody else sees the bytes yet.
[[gnu::no_sanitize_thread, gnu::no_sanitize_address]] Bytes pattern(std::uint64_t seed, std::size_t size) {
  Bytes bytes(size);
  std::byte* const out = bytes.data();
  std::uint64_t value = seed * 0x9e3779b97f4a7c15u + 1;
  // Whole words, whose copy is no call: where nothing is optimized this is what the suite's time is spent on.
  for (std::size_t at = 0; at < size; at += sizeof value) {
    value += 0x9e3779b97f4a7c15u;
    const std::uint64_t mixed = value ^ value >> 29;
    if (size - at >= sizeof mixed)
      std::memcpy(out + at, &mixed, sizeof mixed);
    else
      std::memcpy(out + at, &mixed, size - at);
  }
  return bytes;
}

bool equal(const Bytes& one, const Bytes& other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0);
}

namespace {

// After `idle` polls in vain: for others that want to run; and who waits for a time to pass, or for another
// process, need not keep a core busy.
void pause(int idle) {
  if (idle < 2000) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Node::Posted : Completion {
  Node* node;
  std::vector<Bytes> pieces;

  Posted(Node& owner, std::vector<Bytes> of) : node(&owner), pieces(std::move(of)) {
    done = [](Completion& self) noexcept { static_cast<Posted&>(self).complete(); };
  }
  // The buffers are free: whoever still reads them shall read nonsense.
  ~Posted() {
    for (Bytes& piece : pieces) std::fill(piece.begin(), piece.end(), std::byte{0xee});
  }
  void complete() {
    auto& list = node->posted_;
    const auto me =
        std::find_if(list.begin(), list.end(), [&](const auto& other) { return other.get() == this; });
    CHECK(me != list.end());  // once
    Node* owner = node;
    list.erase(me);  // this is gone
    if (owner->on_complete) owner->on_complete();
  }
};

Node::Node(const Subject& subject, int number, int nodes, std::uint64_t job, const Secret& secret)
    : subject_(subject), number_(number), nodes_(nodes), arriving_(static_cast<std::size_t>(nodes)) {
  Options options;
  options.spec = subject.spec;
  options.node = number;
  options.nodes = nodes;
  options.job = job;
  options.same_machine = subject.same_machine;
  options.secret = secret;
  auto made = subject.make ? subject.make(options, *this) : create_transport(options, *this);
  REQUIRE_MESSAGE(made, (made ? std::string() : made.message()));
  net_ = *std::move(made);
}

Node::~Node() = default;

Post Node::post(int to, std::uint8_t id, const Bytes& header, std::unique_ptr<Posted>& posted) {
  std::vector<iovec> parts;
  std::size_t bytes = 0;
  for (Bytes& piece : posted->pieces) {
    parts.push_back({piece.data(), piece.size()});
    bytes += piece.size();
  }
  Bytes copy = header;
  const Post result = net_->send(to, id, copy, parts, posted.get());
  std::fill(copy.begin(), copy.end(), std::byte{0xee});
  std::fill(parts.begin(), parts.end(), iovec{nullptr, 99});
  if (result == Post::kInProgress) {
    CHECK(bytes > net_->limits().most_buffered);
    posted_.push_back(std::move(posted));
  }
  return result;
}

Post Node::try_send(int to, std::uint8_t id, const Bytes& header, Bytes&& payload) {
  std::vector<Bytes> pieces;
  pieces.push_back(std::move(payload));
  auto posted = std::make_unique<Posted>(*this, std::move(pieces));
  const Post result = post(to, id, header, posted);
  if (result == Post::kNoResource) payload = std::move(posted->pieces[0]);
  return result;
}

void Node::send(int to, std::uint8_t id, Bytes header, Bytes payload) {
  until("room for a message",
        [&] { return try_send(to, id, header, std::move(payload)) != Post::kNoResource; });
}

void Node::send_pieces(int to, std::uint8_t id, const Bytes& header, std::vector<Bytes> pieces) {
  auto posted = std::make_unique<Posted>(*this, std::move(pieces));
  until("room for a message in pieces", [&] { return post(to, id, header, posted) != Post::kNoResource; });
}

bool Node::until(std::string_view what, const std::function<bool()>& condition) {
  const double limit = seconds_now() + subject_.patience;
  for (int idle = 0; !condition();) {
    if (net_->poll()) {
      idle = 0;
    } else if (++idle > 20) {
      pause(idle);
      if (seconds_now() > limit) {
        FAIL_CHECK("node " << number_ << " of " << subject_.spec << ": waits in vain for " << what);
        return false;
      }
    }
  }
  return true;
}

bool Node::asleep_until(std::string_view what, const std::function<bool()>& condition, int* wake_ups) {
  const double limit = seconds_now() + subject_.patience;
  while (!condition()) {
    if (net_->poll()) continue;
    const Arming arming = net_->arm();
    if (arming.ready) continue;
    const double left = limit - seconds_now();
    if (left <= 0) {
      FAIL_CHECK("node " << number_ << " of " << subject_.spec << ": nothing woke it up for " << what);
      return false;
    }
    // A wait that is cut short here would hide a missing wake-up, so all the patience goes into it.
    std::uint64_t wait = static_cast<std::uint64_t>(left * 1e9);
    if (arming.nanoseconds != 0) wait = std::min(wait, arming.nanoseconds);
    const timespec time{static_cast<time_t>(wait / 1'000'000'000), static_cast<long>(wait % 1'000'000'000)};
    pollfd watched{arming.fd, POLLIN, 0};
    ppoll(&watched, arming.fd >= 0 ? 1 : 0, &time, nullptr);
    if (wake_ups != nullptr) ++*wake_ups;
  }
  return true;
}

std::vector<Message*> Node::of(int peer) const {
  std::vector<Message*> messages;
  for (const auto& message : received)
    if (message->peer == peer) messages.push_back(message.get());
  return messages;
}

Landing Node::arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                       std::size_t payload) noexcept {
  CHECK((peer >= 0 && peer < nodes_ && peer != number_));
  auto& place = arriving_[static_cast<std::size_t>(peer)];
  CHECK_MESSAGE(place == nullptr, "a message of node " << peer << " begins before the last one has landed");
  place = std::make_unique<Message>();
  place->peer = peer;
  place->id = id;
  place->header.assign(header.begin(), header.end());
  place->announced = payload;
  const std::size_t room = capacity ? std::min(capacity(*place), payload) : payload;
  // Whatever the transport writes behind the landing is noticed.
  place->payload.assign(room + 16, std::byte{0xdd});
  return {place->payload.data(), room, place.get()};
}

void Node::landed(int peer, void* token) noexcept {
  auto& place = arriving_[static_cast<std::size_t>(peer)];
  CHECK(place.get() == token);
  if (!place) return;
  place->landed = true;
  const std::size_t room = place->payload.size() - 16;
  for (std::size_t i = 0; i < 16; ++i)
    if (place->payload[room + i] != std::byte{0xdd}) FAIL_CHECK("written behind the landing");
  place->payload.resize(room);
  received.push_back(std::move(place));
  // What on_landed() posts may lead to the next landing, but never from inside.
  if (on_landed) on_landed(*received.back());
}

void Node::lost(int peer, const std::string& why) noexcept {
  lost_peers.emplace_back(peer, why);
}

namespace {

constexpr std::size_t kAddressBytes = 1024;

std::uint64_t next_job() {
  static std::uint64_t job = static_cast<std::uint64_t>(getpid()) << 20;
  return ++job;
}

Secret some_secret() {
  REQUIRE(prepare_proofs());
  return *Secret::draw();
}

// A forked node: tells its address, hears the others', and never returns.
[[noreturn]] void run_child(const Subject& subject, int number, int nodes, std::uint64_t job,
                            const Secret& secret, int tell, int hear, const std::function<int(Node&)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    if (subject.enter) subject.enter(number);
    Node node(subject, number, nodes, job, secret);
    char address[kAddressBytes] = {};
    std::strncpy(address, node.net().address().c_str(), sizeof address - 1);
    if (write(tell, address, sizeof address) != sizeof address) _exit(90);
    std::vector<Peer> peers;
    for (int peer = 0; peer < nodes; ++peer) {
      if (read(hear, address, sizeof address) != sizeof address) _exit(91);
      peers.push_back({address, "host" + std::to_string(peer)});
    }
    if (!node.net().set_peers(peers)) _exit(92);
    _exit(body(node));
  } catch (...) {
    _exit(93);
  }
}

}  // namespace

void run_nodes(const Subject& subject, int nodes, const std::function<void(Node&)>& body) {
  const std::uint64_t job = next_job();
  const Secret secret = some_secret();
  std::vector<std::unique_ptr<Node>> all;
  std::vector<Peer> peers;
  for (int i = 0; i < nodes; ++i) {
    all.push_back(std::make_unique<Node>(subject, i, nodes, job, secret));
    peers.push_back({all.back()->net().address(), "host" + std::to_string(i)});
  }
  std::atomic<int> finished{0};
  std::vector<std::thread> threads;
  for (auto& node : all) {
    REQUIRE(node->net().set_peers(peers));
    threads.emplace_back([&body, &finished, nodes, node = node.get()] {
      body(*node);
      finished.fetch_add(1);
      if (!node->alive()) return;
      node->until("all nodes to finish", [&] { return finished.load() == nodes; });
      CHECK_MESSAGE(node->net().close(node->subject().patience),
                    "node " << node->number() << " could not send everything");
      CHECK(node->in_progress() == 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<int> fork_nodes(const Subject& subject, int nodes, const std::function<int(Node&)>& body) {
  const std::uint64_t job = next_job();
  const Secret secret = some_secret();
  const auto count = static_cast<std::size_t>(nodes);
  // Each process tells its address through a pipe of its own, and hears all of them through another.
  std::vector<std::array<int, 2>> up(count), down(count);
  std::vector<pid_t> processes;
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(pipe(up[i].data()) == 0);
    REQUIRE(pipe(down[i].data()) == 0);
    const pid_t process = fork();
    REQUIRE(process >= 0);
    if (process == 0) run_child(subject, static_cast<int>(i), nodes, job, secret, up[i][1], down[i][0], body);
    processes.push_back(process);
    close(up[i][1]);  // so that reading ends if the process does
  }
  std::vector<std::array<char, kAddressBytes>> addresses(count);
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(read(up[i][0], addresses[i].data(), kAddressBytes) == kAddressBytes);
  for (std::size_t i = 0; i < count; ++i)
    for (const auto& address : addresses)
      REQUIRE(write(down[i][1], address.data(), kAddressBytes) == kAddressBytes);
  std::vector<int> statuses;
  for (const pid_t process : processes) {
    int status = -1;
    waitpid(process, &status, 0);
    statuses.push_back(status);
  }
  for (std::size_t i = 0; i < count; ++i)
    for (const int fd : {up[i][0], down[i][0], down[i][1]}) close(fd);
  return statuses;
}

bool poll_until(const std::vector<std::unique_ptr<Node>>& nodes, const std::function<bool()>& condition,
                double seconds) {
  const double limit = seconds_now() + seconds;
  for (int idle = 0; !condition(); ++idle) {
    if (seconds_now() > limit) return false;
    for (const auto& node : nodes)
      if (node->net().poll()) idle = 0;
    if (idle > 20) pause(idle);
  }
  return true;
}

}  // namespace tmpi::net::conformance
