// Context: what the parts of one tcp transport share.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/handshake.hpp"
#include "net/tcp/socket.hpp"
#include "net/transport.hpp"

namespace tmpi::net::tcp {

class Link;

inline constexpr std::uint64_t kNever = UINT64_MAX;  ///< a time

/// Whom an event of the epoll set is for.
enum class Party : std::uint32_t { kLink, kListener, kPending };

inline std::uint64_t make_tag(Party party, std::uint32_t index) noexcept {
  return static_cast<std::uint64_t>(party) << 32 | index;
}
inline Party party_of(std::uint64_t tag) noexcept {
  return static_cast<Party>(tag >> 32);
}
inline std::uint32_t index_of(std::uint64_t tag) noexcept {
  return static_cast<std::uint32_t>(tag);
}

struct Context {
  static constexpr std::size_t kReadBytes = 64 << 10;

  Sink* sink = nullptr;
  Identity self;
  Fd epoll;
  std::vector<Link*> active;  ///< links that have something to do in the next poll()
  Link* recent = nullptr;     ///< the one that has last received something
  bool polling = false;       ///< what is posted now leaves when the present link has been served
  std::uint64_t polls = 0;    ///< so far
  Transport::Traffic traffic;
  std::array<std::byte, kReadBytes> buffer;  ///< where links read to
  std::string opened;                        ///< and sealed ones open what they have read

  bool watch(int operation, int fd, std::uint32_t events, std::uint64_t tag) noexcept {
    epoll_event event{};
    event.events = events;
    event.data.u64 = tag;
    return epoll_ctl(epoll.get(), operation, fd, &event) == 0;
  }
};

}  // namespace tmpi::net::tcp
