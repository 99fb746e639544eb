// Link's exposures: opening and closing windows on memory for the peer.
#include <utility>

#include "net/verbs/link.hpp"

namespace tmpi::net::verbs {

// What is posted behind finds the window open. True: it has been posted, or there is none to open.
bool Link::open_window(Exposure& exposure) noexcept {
  if (exposure.state != Exposure::State::kReady) return true;
  ibv_send_wr request{};
  request.opcode = IBV_WR_BIND_MW;
  request.send_flags = IBV_SEND_SIGNALED;
  request.bind_mw.mw = exposure.window;
  request.bind_mw.rkey = exposure.key;
  request.bind_mw.bind_info.mr = exposure.registration->registered();
  request.bind_mw.bind_info.addr = reinterpret_cast<std::uintptr_t>(exposure.address);
  request.bind_mw.bind_info.length = exposure.bytes;
  request.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
  if (!post(request, {.what = Work::What::kOpen})) return false;
  exposure.window->rkey = exposure.key;
  exposure.state = Exposure::State::kOpen;
  return true;
}

// The peer may not read any more. Who waits for that is told when it is true.
void Link::close_window(Exposure& exposure) noexcept {
  if (exposure.state == Exposure::State::kReady) {
    exposure.state = Exposure::State::kDropped;  // it still waits to be opened: push() ends it
    return;
  }
  if (exposure.window == nullptr || over()) return end_exposure(exposure, over());
  if (room() <= kSpareRequests / 2) {
    closing_windows_.push_back(&exposure);
    return list_waiting();
  }
  ibv_send_wr request{};
  request.opcode = IBV_WR_LOCAL_INV;
  request.send_flags = IBV_SEND_SIGNALED;
  request.invalidate_rkey = exposure.key;
  if (!post(request, {.what = Work::What::kClose, .exposure = &exposure}))
    closing_windows_.push_back(&exposure);  // the connection has failed: drop() ends it
}

void Link::end_exposure(Exposure& exposure, bool lost) noexcept {
  Completion* const completion = exposure.completion;
  hub_.exposures.end(exposure, lost);
  if (completion != nullptr) hub_.finished.push_back(completion);
}

Exposure* Link::expose(const void* buffer, std::size_t bytes) {
  Exposure* const exposure = hub_.exposures.make(peer_, buffer, bytes, sending_ == this);
  if (exposure == nullptr || exposure->state == Exposure::State::kOpen || over()) return exposure;
  if (queue_.empty() && state_ == State::kUp && room() > kSpareRequests && open_window(*exposure))
    return exposure;
  Waiting opening;
  opening.kind = Waiting::Kind::kOpen;
  opening.exposure = exposure;
  queue_.push_back(std::move(opening));
  if (state_ == State::kNone) connect();
  list_waiting();
  return exposure;
}

void Link::conceal(Exposure& exposure) noexcept {
  if (over() && exposure.state != Exposure::State::kFree) return end_exposure(exposure, over());
  close_window(exposure);
}

}  // namespace tmpi::net::verbs
