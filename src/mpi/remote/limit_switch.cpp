#include "mpi/remote/limit_switch.hpp"

#include <algorithm>

namespace tmpi::mpi::remote {

bool LimitSwitch::start(SwitchPorts& ports, MPI_Count current, MPI_Count limit) {
  if (state_ != State::kIdle || limit == current || incapable_[limit < current]) return false;
  state_ = State::kAsked;
  smaller_ = limit < current;
  limit_ = limit;
  ports.post(SwitchStep::kRequest, limit, {});
  return true;
}

bool LimitSwitch::on_message(SwitchPorts& ports, MPI_Count current, SwitchStep step, std::int64_t limit,
                             const net::Endpoint& endpoint) {
  switch (step) {
    case SwitchStep::kRequest:
      return limit > 0 && on_request(ports, current, limit);
    case SwitchStep::kReply:
      return on_reply(ports, current, limit, endpoint);
    case SwitchStep::kAbandon:
      if (state_ != State::kOffered) return false;
      ports.drop_new();
      state_ = State::kIdle;
      return true;
    case SwitchStep::kConnect:
      if (state_ != State::kOffered) return false;
      on_connect(ports, endpoint);
      return true;
    case SwitchStep::kSwitched:
      return on_switched(ports);
    case SwitchStep::kRetired:
      if (state_ != State::kSwitched) return false;
      ports.retire_old();
      state_ = State::kIdle;
      return true;
  }
  return false;
}

bool LimitSwitch::on_request(SwitchPorts& ports, MPI_Count current, MPI_Count limit) {
  MPI_Count own = 0;
  if (state_ == State::kAsked) {
    // Both have asked, and each will know it: the peer's request has crossed ours.
    if (has_its_way_) return true;  // the peer gives way, and answers ours
    own = limit_;
  } else if (state_ != State::kIdle) {
    return false;
  }
  state_ = State::kIdle;
  const MPI_Count agreed = std::max({limit, own, ports.own_limit()});
  if (agreed == current || (agreed < current && !ports.may_lower(agreed))) {
    ports.post(SwitchStep::kReply, kNotNow, {});
    return true;
  }
  net::Endpoint mine;
  if (!ports.prepare(agreed, mine)) {
    ports.post(SwitchStep::kReply, kCannot, {});
    return true;
  }
  limit_ = agreed;
  smaller_ = agreed < current;
  state_ = State::kOffered;
  ports.post(SwitchStep::kReply, agreed, mine);
  return true;
}

bool LimitSwitch::on_reply(SwitchPorts& ports, MPI_Count current, std::int64_t limit,
                           const net::Endpoint& endpoint) {
  if (state_ == State::kConnecting && limit == kCannot) {  // the peer could not connect what it had prepared
    ports.drop_new();
    incapable_[smaller_] = true;
    state_ = State::kIdle;
    return true;
  }
  if (state_ != State::kAsked) return false;
  state_ = State::kIdle;
  if (limit == kNotNow) return true;
  if (limit == kCannot) {
    incapable_[smaller_] = true;
    return true;
  }
  if (limit < limit_) return false;
  limit_ = limit;
  smaller_ = limit < current;
  net::Endpoint mine;
  const bool prepared = ports.prepare(limit_, mine);
  if (!prepared || !ports.connect(endpoint)) {
    if (prepared) ports.drop_new();
    incapable_[smaller_] = true;
    ports.post(SwitchStep::kAbandon, kCannot, {});
    return true;
  }
  state_ = State::kConnecting;
  ports.post(SwitchStep::kConnect, limit_, mine);
  return true;
}

void LimitSwitch::on_connect(SwitchPorts& ports, const net::Endpoint& endpoint) {
  if (!ports.connect(endpoint)) {
    ports.drop_new();
    incapable_[smaller_] = true;
    state_ = State::kIdle;
    ports.post(SwitchStep::kReply, kCannot, {});
    return;
  }
  state_ = State::kLeaving;
  leave_old(ports);
}

void LimitSwitch::leave_old(SwitchPorts& ports) {
  ports.post(SwitchStep::kSwitched, limit_, {});
  ports.set_limit(limit_);
}

bool LimitSwitch::on_switched(SwitchPorts& ports) {
  if (state_ == State::kConnecting) {  // the initiator: the peer has connected
    ports.receive_by_new();
    state_ = State::kSwitched;
    leave_old(ports);
    return true;
  }
  if (state_ != State::kLeaving) return false;
  // The initiator sends this in answer to ours, which was our last message by the old connection.
  ports.receive_by_new();
  ports.retire_old();
  state_ = State::kIdle;
  ports.post(SwitchStep::kRetired, limit_, {});
  return true;
}

}  // namespace tmpi::mpi::remote
