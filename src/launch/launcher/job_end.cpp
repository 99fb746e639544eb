#include "launch/launcher/job_end.hpp"

#include <utility>

#include "launch/launcher/mpir.hpp"

namespace tmpi::launch {

bool JobEnd::because(Cause cause, int code, std::string message) {
  if (begun()) return false;
  cause_ = cause;
  code_ = code;
  message_ = std::move(message);
  if (cause != Cause::kResumed) mpir::aborting(message_);
  return true;
}

void JobEnd::tell_nodes(const Node* except) {
  nodes_.for_each_running([&](Node& node) {
    if (&node == except) return;
    if (!node.hello && node.remote()) node.kill();  // still on its way
    node.send(FrameType::kEndNow, 0, "");
  });
  kill_after_reports(kEndingWait);
}

void JobEnd::kill_nodes() {
  nodes_.kill();
  kill_at_.reset();
}

void JobEnd::extend(Clock::duration pause) {
  if (kill_at_) *kill_at_ += pause;
}

}  // namespace tmpi::launch
