// Conformance: messages and what they carry.
#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "net/conformance_checks.hpp"
#include "net/conformance_stamp.hpp"

namespace tmpi::net::conformance {
namespace {

// Small ones mostly; every 37th is large.
std::size_t mixed_size(std::uint64_t seed) {
  return seed % 37 == 5 ? 100'000 + seed % 1000 : seed * 7919 % 700;
}

// All send `count` messages to the nodes that `pairs` says, and check what they get.
void exchange(const Subject& subject, int nodes, std::size_t count, bool (*pairs)(int from, int to)) {
  run_nodes(subject, nodes, [=](Node& node) {
    const auto seed = [&](int from, int to) { return static_cast<std::uint64_t>(from * nodes + to) << 32; };
    std::size_t expected = 0;
    for (int from = 0; from < nodes; ++from)
      if (from != node.number() && pairs(from, node.number())) expected += count;
    for (std::size_t i = 0; i < count; ++i)
      for (int to = 0; to < nodes; ++to)
        if (to != node.number() && pairs(node.number(), to))
          send_stamped(node, to, seed(node.number(), to) + i, mixed_size(i));
    node.until("all messages", [&] { return node.received.size() >= expected && node.in_progress() == 0; });
    for (int from = 0; from < nodes; ++from)
      if (from != node.number() && pairs(from, node.number()))
        check_in_order(node, from, seed(from, node.number()), count);
    CHECK(node.lost_peers.empty());
  });
}

}  // namespace

void keeps_order(const Subject& subject) {
  exchange(subject, 2, 3000, [](int, int) { return true; });
}

void many_to_one(const Subject& subject) {
  exchange(subject, 8, 300, [](int, int to) { return to == 0; });
}

void all_to_all(const Subject& subject) {
  exchange(subject, 5, 150, [](int, int) { return true; });
}

void carries_all_sizes(const Subject& subject) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < 20; ++size) sizes.push_back(size);
  for (std::size_t power = 32; power <= subject.largest; power *= power < (1 << 20) ? 2 : 4)
    for (const std::size_t size : {power - 1, power, power + 1})
      if (size <= subject.largest && (power < (8 << 20) || size == power)) sizes.push_back(size);
  sizes.push_back(subject.largest - 3);
  run_nodes(subject, 2, [&](Node& node) {
    for (const std::size_t size : sizes) {
      send_stamped(node, 1 - node.number(), size, size);
      node.until("a message", [&] { return !node.received.empty() && node.in_progress() == 0; });
      if (node.received.empty()) return;
      CHECK(stamp_of(*node.received[0]).size == size);
      CHECK_MESSAGE(is_intact(*node.received[0]), size << " bytes have changed on the way");
      node.received.erase(node.received.begin());
    }
  });
}

void carries_all_headers(const Subject& subject) {
  run_nodes(subject, 2, [](Node& node) {
    const std::size_t most = node.net().limits().most_header;
    CHECK(most >= 128);
    for (std::size_t size = 0; size <= most; ++size)
      node.send(1 - node.number(), 200, pattern(size, size), pattern(size + 1, size % 3 * 5));
    node.until("all headers", [&] { return node.received.size() > most; });
    for (std::size_t size = 0; size < node.received.size(); ++size) {
      CHECK(node.received[size]->header == pattern(size, size));
      CHECK(node.received[size]->payload == pattern(size + 1, size % 3 * 5));
    }
  });
}

// Of memory that a vector owns.
[[gnu::no_sanitize_address]] std::uint64_t checksum(const Bytes& bytes) {
  std::uint64_t sum = 0;
  const std::byte* const data = bytes.data();
  const std::size_t size = bytes.size();
  for (std::size_t i = 0; i < size; ++i) sum = sum * 31 + static_cast<std::uint64_t>(data[i]);
  return sum;
}

void gathers(const Subject& subject) {
  constexpr std::size_t kRounds = 60;
  run_nodes(subject, 2, [](Node& node) {
    std::mt19937 random(static_cast<unsigned>(node.number()));
    for (std::size_t round = 0; round < kRounds; ++round) {
      const std::size_t pieces = round == 0 ? 0 : round % 7 == 6 ? 2500 : random() % 70;
      const std::size_t most = round % 5 == 4 ? 20'000 : 100;
      std::vector<Bytes> parts;
      Bytes whole;
      for (std::size_t i = 0; i < pieces; ++i) {
        parts.push_back(pattern(round * 5000 + i, i % 9 == 3 ? 0 : random() % most));
        whole.insert(whole.end(), parts.back().begin(), parts.back().end());
      }
      // The header carries what the other side cannot know: a checksum of its own.
      node.send_pieces(1 - node.number(), 1, to_header({checksum(whole), whole.size()}), std::move(parts));
    }
    node.until("all messages", [&] { return node.received.size() == kRounds && node.in_progress() == 0; });
    for (const auto& message : node.received) {
      CHECK(stamp_of(*message).size == message->payload.size());
      CHECK(stamp_of(*message).seed == checksum(message->payload));
    }
  });
}

void truncates(const Subject& subject) {
  const std::vector<std::size_t> sizes = {1, 100, 5000, 65'536, 65'537, 300'000, 3'000'000};
  run_nodes(subject, 2, [&](Node& node) {
    // Room for none of it, a part, all but one byte, all, more.
    const auto room = [](std::uint64_t seed, std::size_t size) {
      return std::vector<std::size_t>{0, size / 3, size - 1, size, size + 5}[seed % 5];
    };
    node.capacity = [&](const Message& message) { return room(stamp_of(message).seed, message.announced); };
    std::uint64_t seed = 0;
    for (const std::size_t size : sizes)
      for (int i = 0; i < 5; ++i) send_stamped(node, 1 - node.number(), seed++, size);
    node.until("all messages", [&] { return node.received.size() == seed && node.in_progress() == 0; });
    for (std::size_t i = 0; i < node.received.size(); ++i) {
      const Message& message = *node.received[i];
      const Stamp stamp = stamp_of(message);
      CHECK(stamp.seed == i);
      CHECK(message.announced == stamp.size);
      Bytes expected = pattern(stamp.seed, stamp.size);
      expected.resize(std::min(room(stamp.seed, stamp.size), stamp.size));
      CHECK(equal(message.payload, expected));
    }
  });
}

void pushes_back(const Subject& subject) {
  for (const std::size_t size : {std::size_t{40}, std::size_t{30'000}, std::size_t{1} << 20}) {
    CAPTURE(size);
    std::atomic<bool> full{false};
    std::atomic<std::size_t> posted{0};
    run_nodes(subject, 2, [&](Node& node) {
      if (node.number() == 0) {
        // Connected first: what follows is about the way, not about getting there.
        node.until("the first message", [&] { return !node.received.empty(); });
        std::size_t next = 0;
        Bytes payload = pattern(next, size);
        const double limit = seconds_now() + node.subject().patience;
        for (int refused = 0; refused < 1000 && seconds_now() < limit;) {
          const auto id = static_cast<std::uint8_t>(next);
          // NOLINTNEXTLINE(bugprone-use-after-move): when it is refused the payload stays as it is
          const Post result = node.try_send(1, id, to_header({next, size}), std::move(payload));
          if (result == Post::kNoResource) {
            ++refused;
          } else {
            refused = 0;
            payload = pattern(++next, size);
          }
          if (next * size > (std::size_t{1} << 30)) break;  // who takes a gigabyte takes anything
          node.net().poll();
        }
        CHECK_MESSAGE(next * size <= (std::size_t{1} << 30), "nothing was ever refused");
        posted = next;
        full = true;
        node.until("completions", [&] { return node.in_progress() == 0; });
        send_stamped(node, 1, next, size);
      } else {
        send_stamped(node, 0, 0, 0);
        // The connection is made by polling; then nothing is received until the sender is stuck.
        node.until("the first of many messages", [&] { return !node.received.empty(); });
        while (!full) std::this_thread::sleep_for(std::chrono::microseconds(100));
        node.until("all messages", [&] { return node.received.size() == posted + 1; });
        check_in_order(node, 0, 0, posted + 1);
      }
    });
  }
}

void posts_from_inside(const Subject& subject) {
  constexpr std::uint64_t kRounds = 2000;
  run_nodes(subject, 2, [](Node& node) {
    const int other = 1 - node.number();
    std::uint64_t completed = 0, last = 0;
    const auto post = [&](std::uint64_t seed) {
      const std::size_t size = seed % 50 == 7 ? 200'000 : seed % 97;
      // There is always room: one message is under way at a time.
      CHECK(node.try_send(other, static_cast<std::uint8_t>(seed), to_header({seed, size}),
                          pattern(seed, size)) != Post::kNoResource);
    };
    node.on_landed = [&](const Message& message) {
      CHECK(is_intact(message));
      if (stamp_of(message).seed >= kRounds) return;  // the other one is further
      last = stamp_of(message).seed;
      if (last + 1 < kRounds) post(last + 1);
    };
    if (node.number() == 0) post(0);
    node.until("the last message", [&] { return last + 2 >= kRounds && node.in_progress() == 0; });
    // A completion posts the next large message.
    node.on_landed = nullptr;
    // The other one may be further already.
    std::erase_if(node.received, [&](const auto& message) { return stamp_of(*message).seed < kRounds; });
    node.on_complete = [&] {
      if (++completed < 10)  // whatever comes of it
        node.try_send(other, kRounds & 0xff, to_header({kRounds, 400'000}), pattern(kRounds, 400'000));
    };
    // Until one is in progress: transports may be done at once.
    for (int i = 0; i < 50 && node.in_progress() == 0; ++i) send_stamped(node, other, kRounds, 400'000);
    node.until("completions", [&] { return node.in_progress() == 0; });
    send_stamped(node, other, kRounds + 1, 0);
    node.until("all messages",
               [&] { return !node.received.empty() && stamp_of(*node.received.back()).seed == kRounds + 1; });
    for (const auto& message : node.received) CHECK(is_intact(*message));
  });
}

void accounts(const Subject& subject) {
  run_nodes(subject, 2, [](Node& node) {
    CHECK(node.net().idle());
    send_stamped(node, 1 - node.number(), 3, 100);
    send_stamped(node, 1 - node.number(), 4, 300'000);
    node.until("everything", [&] { return node.received.size() == 2 && node.net().idle(); });
    const Transport::Traffic traffic = node.net().traffic();
    CHECK(traffic.messages_sent == 2);
    CHECK(traffic.messages_received == 2);
    CHECK(traffic.bytes_sent == 300'100 + 2 * sizeof(Stamp));
    CHECK(traffic.bytes_received == 300'100 + 2 * sizeof(Stamp));
    CHECK_FALSE(node.net().describe().empty());
    CHECK(node.net().address().size() <= 1024);
  });
}

namespace {

struct Got : Completion {
  bool called = false;
  Got() {
    done = [](Completion& self) noexcept { static_cast<Got&>(self).called = true; };
  }
};

}  // namespace

void gets(const Subject& subject) {
  run_nodes(subject, 2, [](Node& node) {
    if (!node.net().limits().can_get) {
      CHECK_FALSE(node.net().expose(1 - node.number(), &node, 1));
      return;
    }
    struct Offer {
      RemoteKey key;
      std::uint64_t address;
    };
    const std::size_t size = 5'000'000;
    const Bytes memory = pattern(static_cast<std::uint64_t>(node.number()), size);
    const auto key = node.net().expose(1 - node.number(), memory.data(), size);
    REQUIRE(key);
    const Offer offer{*key, reinterpret_cast<std::uint64_t>(memory.data())};
    Bytes header(sizeof offer);
    std::memcpy(header.data(), &offer, sizeof offer);
    const int other = 1 - node.number();
    node.send(other, 1, header, {});
    node.until("an offer", [&] { return !node.received.empty(); });
    Offer theirs;
    std::memcpy(&theirs, node.received[0]->header.data(), sizeof theirs);
    const Bytes expected = pattern(static_cast<std::uint64_t>(other), size);
    struct Part {
      std::size_t offset;
      std::size_t bytes;
    };
    for (const Part part : {Part{0, size}, Part{17, 1}, Part{4097, 70'001}, Part{9, 0}}) {
      const std::size_t offset = part.offset;
      const std::size_t bytes = part.bytes;
      Bytes buffer(bytes + 8, std::byte{0xdd});
      Got got;
      Post result = Post::kNoResource;
      node.until("room for a get", [&] {
        result = node.net().get(other, theirs.key, theirs.address + offset, buffer.data(), bytes, &got);
        return result != Post::kNoResource;
      });
      node.until("a get", [&] { return result == Post::kDone || got.called; });
      CHECK(std::memcmp(buffer.data(), expected.data() + offset, bytes) == 0);
      CHECK(buffer[bytes] == std::byte{0xdd});
    }
    node.send(other, 2, {}, {});
    node.until("the other's end", [&] { return node.received.size() == 2; });
    node.net().conceal(*key);
  });
}

}  // namespace tmpi::net::conformance
