// LimitSwitch: how two nodes agree on another eager limit for the messages between them, and change the connection
// behind it, while messages go on in both directions (Subramoni et al., sections 3.2 and 4.2, full in-band). One per
// peer, the same at both ends: a state and what each message does to it, nothing else. docs/design/network.md, "The adaptive
// eager limit"; net/reconnection.hpp draws who sends what when.
//
// Used under the engine's lock. A value: tests copy it, and try every order of what can happen.
#pragma once

#include <cstdint>

#include "mpi.h"
#include "net/reconnection.hpp"

namespace tmpi::mpi::remote {

enum class SwitchStep : std::uint32_t {
  kRequest = 1,  ///< limit: what the sender wants
  kReply,        ///< limit: what both will have, with the endpoint of the sender; or kCannot, kNotNow
  kAbandon,      ///< what was offered by a reply is not wanted: the sender cannot
  kConnect,      ///< with the endpoint of the sender, which can receive by the new connection
  kSwitched,     ///< the sender's last message by the old connection
  kRetired,      ///< by the new connection: nothing is on the old one any more
};

/// Limits of a reply that are none.
inline constexpr std::int64_t kCannot = -1;  ///< for lack of memory, or of pools: do not ask again
inline constexpr std::int64_t kNotNow = -2;  ///< a smaller limit: larger messages have come by lately

/// What the protocol does to the world around it, for one peer.
class SwitchPorts {
 public:
  /// Sends to the peer; kSwitched goes by the old connection, and what is sent after it by the new one.
  virtual void post(SwitchStep step, std::int64_t limit, const net::Endpoint& endpoint) = 0;
  /// net::Reconnection's, or, where there is none, nothing.
  virtual bool prepare(MPI_Count limit, net::Endpoint& mine) = 0;
  virtual bool connect(const net::Endpoint& theirs) = 0;
  virtual void receive_by_new() = 0;
  virtual void retire_old() = 0;
  virtual void drop_new() = 0;
  /// The limit that this node's own messages with the peer suggest; 0: none.
  virtual MPI_Count own_limit() = 0;
  /// May the limit become this one, which is smaller than it is?
  virtual bool may_lower(MPI_Count limit) = 0;
  /// The limit of what is sent from now on; called right after the post of kSwitched.
  virtual void set_limit(MPI_Count limit) = 0;

 protected:
  ~SwitchPorts() = default;
};

class LimitSwitch {
 public:
  enum class State : std::uint8_t {
    kIdle,
    kAsked,       ///< waits for the reply
    kOffered,     ///< has replied, with its endpoint
    kConnecting,  ///< has sent its endpoint; the peer's kSwitched follows, or a reply that it cannot
    kLeaving,     ///< has sent kSwitched; the initiator's follows
    kSwitched,    ///< the initiator: has sent kSwitched; kRetired follows
  };

  /// Which of two nodes that ask each other at the same time has its way: one of them only.
  explicit LimitSwitch(bool has_its_way = false) : has_its_way_(has_its_way) {}

  /// Begins to change the limit, if nothing is under way and the peer has not said that it cannot. `current`: the
  /// limit now.
  bool start(SwitchPorts& ports, MPI_Count current, MPI_Count limit);

  /// What has come from the peer. False: that makes no sense now.
  bool on_message(SwitchPorts& ports, MPI_Count current, SwitchStep step, std::int64_t limit,
                  const net::Endpoint& endpoint);

  State state() const noexcept { return state_; }
  bool idle() const noexcept { return state_ == State::kIdle; }
  /// What was asked for or agreed last.
  MPI_Count wanted() const noexcept { return limit_; }
  /// The peer, or this node, has found that it cannot have a larger (or, the other way, a smaller) limit: it is not
  /// asked for any more.
  bool incapable(bool smaller) const noexcept { return incapable_[smaller]; }

 private:
  bool on_request(SwitchPorts& ports, MPI_Count current, MPI_Count limit);
  bool on_reply(SwitchPorts& ports, MPI_Count current, std::int64_t limit, const net::Endpoint& endpoint);
  void on_connect(SwitchPorts& ports, const net::Endpoint& endpoint);
  bool on_switched(SwitchPorts& ports);
  void leave_old(SwitchPorts& ports);

  State state_ = State::kIdle;
  bool has_its_way_ = false;
  bool smaller_ = false;  // than the limit that is to be changed
  bool incapable_[2] = {false, false};
  MPI_Count limit_ = 0;  // asked for, then agreed
};

}  // namespace tmpi::mpi::remote
