// Stamp: the header that the conformance suite's messages carry, which says what the payload must be.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

#include "net/conformance_node.hpp"

namespace tmpi::net::conformance {

struct Stamp {
  std::uint64_t seed = 0;
  std::uint64_t size = 0;
};

inline Bytes to_header(const Stamp& stamp) {
  Bytes header(sizeof stamp);
  std::memcpy(header.data(), &stamp, sizeof stamp);
  return header;
}

inline Stamp stamp_of(const Message& message) {
  Stamp stamp;
  REQUIRE(message.header.size() >= sizeof stamp);
  std::memcpy(&stamp, message.header.data(), sizeof stamp);
  return stamp;
}

inline void send_stamped(Node& node, int to, std::uint64_t seed, std::size_t size) {
  node.send(to, static_cast<std::uint8_t>(seed), to_header({seed, size}), pattern(seed, size));
}

/// The message is what send_stamped() has sent.
inline bool is_intact(const Message& message) {
  const Stamp stamp = stamp_of(message);
  return message.id == static_cast<std::uint8_t>(stamp.seed) && message.announced == stamp.size &&
         equal(message.payload, pattern(stamp.seed, stamp.size));
}

/// `peer` has sent the seeds first, first + 1, ..., all intact and in this order.
inline void check_in_order(const Node& node, int peer, std::uint64_t first, std::size_t count) {
  const auto messages = node.of(peer);
  CHECK(messages.size() == count);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (stamp_of(*messages[i]).seed != first + i || !is_intact(*messages[i])) {
      FAIL_CHECK("message " << i << " of node " << peer << " is wrong at node " << node.number());
      return;
    }
  }
}

}  // namespace tmpi::net::conformance
