// Exposures: memory that one peer may read for one message. With memory windows (type 2) a window on registered memory
// is opened for just these bytes and just this peer's queue pair, and closed after the message, by work requests: no
// system call, and the key is worth nothing before, afterwards, or to anybody else. Without them, and where
// registrations are not kept, these bytes are registered for the message.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net/transport.hpp"
#include "net/verbs/registrations.hpp"

namespace tmpi::net::verbs {

struct Exposure {
  enum class State : std::uint8_t {
    kFree,
    kReady,    ///< the key is known; a window is not yet open
    kOpen,     ///< the peer may read
    kDropped,  ///< closed before it was open
  };
  State state = State::kFree;
  std::uint32_t index = 0;
  std::uint32_t key = 0;
  int peer = 0;
  void* address = nullptr;
  std::size_t bytes = 0;
  Registration* registration = nullptr;  ///< of the pages around, with a window
  ibv_mw* window = nullptr;
  ibv_mr* registered = nullptr;      ///< of just these bytes, without
  Completion* completion = nullptr;  ///< to be told when nobody can read any more
};

class Exposures {
 public:
  void use(const Device& device, Registrations& registrations) noexcept;
  ~Exposures();

  /// Null: the memory cannot be registered (errno).
  /// `may_window`: what tells the peer of it is posted behind what opens the window, to the same queue pair; else these
  /// bytes are registered, and may be read at once.
  Exposure* make(int peer, const void* buffer, std::size_t bytes, bool may_window = true);
  /// Nobody reads there any more. `lost`: the window was open to a queue pair that has failed, and cannot be used
  /// again.
  void end(Exposure& exposure, bool lost) noexcept;
  Exposure* at(std::uint64_t index) noexcept { return index < all_.size() ? all_[index].get() : nullptr; }

 private:
  const Device* device_ = nullptr;
  Registrations* registrations_ = nullptr;
  std::vector<std::unique_ptr<Exposure>> all_;
  std::vector<Exposure*> free_;
  std::vector<ibv_mw*> windows_;  // closed ones
};

}  // namespace tmpi::net::verbs
