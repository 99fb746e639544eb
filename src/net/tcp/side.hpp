// What transports have in common whose node processes know each other by tcp (verbs, ofi): what comes by tcp, and the
// lists of links that are served in turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "net/transport.hpp"

namespace tmpi::net::tcp {

/// Keeps what comes by tcp until poll() has seen the frames that were there before.
template <class Id, class Connect>
struct SideSink final : Sink {
  struct Message {
    int peer;
    Id id;
    std::size_t bytes;
    Connect connect;
  };
  struct Loss {
    int peer;
    std::string why;
  };
  std::vector<Message> messages;
  std::vector<Loss> losses;

  bool empty() const noexcept { return messages.empty() && losses.empty(); }
  Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                   std::size_t payload) noexcept override {
    Message message{peer, static_cast<Id>(id), header.size() + payload, {}};
    std::memcpy(&message.connect, header.data(), std::min(header.size(), sizeof message.connect));
    messages.push_back(message);
    return {};
  }
  void landed(int, void*) noexcept override {}
  void lost(int peer, const std::string& why) noexcept override { losses.push_back({peer, why}); }
};

/// Lets links send what waits; those that have sent it all leave the list. `connecting`: how many had no connection yet.
/// True if anything went.
template <class Link>
bool flush_waiting(std::vector<Link*>& waiting, int& connecting) noexcept {
  bool went = false;
  connecting = 0;
  for (std::size_t i = 0; i < waiting.size();) {
    Link* const link = waiting[i];
    went = link->flush() || went;
    connecting += link->connecting() ? 1 : 0;
    if (link->waits()) {
      ++i;
    } else {
      link->listed_waiting = false;
      waiting[i] = waiting.back();
      waiting.pop_back();
    }
  }
  return went;
}

/// Lets links return credit. One that still owes is listed again, behind these.
template <class Link>
void settle_owing(std::vector<Link*>& owing) noexcept {
  for (std::size_t count = owing.size(); count > 0; --count) {
    Link* const link = owing.front();
    owing.erase(owing.begin());
    link->listed_owing = false;
    link->settle();
  }
}

/// What they do may add others, which are told the next time.
inline void tell_finished(std::vector<Completion*>& finished) noexcept {
  std::vector<Completion*> now;
  now.swap(finished);
  for (Completion* const completion : now) completion->done(*completion);
}

}  // namespace tmpi::net::tcp
