#include "launch/launcher/lost_connection.hpp"

#include <fmt/core.h>

namespace tmpi::launch {

void LostConnection::reported(const Node& node, int lost, std::string_view why) {
  // It has lost somebody as well: so it lives, and nothing better is to be heard of it.
  if (loss_ && loss_->node == node.number()) loss_->deadline = Clock::now();
  if (loss_ || end_.begun() || lost < 0 || lost >= nodes_.planned()) return;
  const Node& other = nodes_[lost];
  if (other.done) return;
  const Clock::duration wait = other.process().adopted() ? kEndOfChannel
                               : other.remote()          ? kBetterCause
                                                         : kBetterCauseHere;
  const auto now = Clock::now();
  loss_ = {lost,
           fmt::format("{} has lost the connection to {}, with {}: {}", nodes_.name_of(node),
                       nodes_.name_of(other), ranks_.unfinished_on(lost), why),
           now + wait, now + kBetterCause};
}

bool LostConnection::expire() {
  Node& lost = nodes_[loss_->node];
  const auto now = Clock::now();
  if (now < loss_->latest && lost.process().is_dying()) {  // which is the cause, and about to be heard of
    loss_->deadline = now + kDyingLook;
    return false;
  }
  const bool cause = !lost.done && end_.because_of(JobEnd::Cause::kConnectionLost, lost, 1, loss_->text);
  // It would not hear of the end; it ends by itself when it hears nothing.
  if (!lost.done && lost.process().adopted()) lost.kill();
  loss_.reset();
  return cause;
}

void LostConnection::extend(Clock::duration pause) {
  if (!loss_) return;
  loss_->deadline += pause;
  loss_->latest += pause;
}

}  // namespace tmpi::launch
