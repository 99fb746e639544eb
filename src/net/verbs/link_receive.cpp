// Link's receiving half: frames, and RDMA reads of what was offered or is got.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/copy_few.hpp"
#include "net/verbs/link.hpp"

namespace tmpi::net::verbs {
namespace {

void write_to(const Landing& landing, std::size_t offset, const std::byte* bytes, std::size_t size) noexcept {
  if (offset >= landing.capacity || size == 0) return;
  copy_few(static_cast<std::byte*>(landing.buffer) + offset, bytes,
           std::min(size, landing.capacity - offset));
}

FrameHeader frame_at(const std::byte* data) noexcept {
  FrameHeader frame;
  std::memcpy(&frame, data, sizeof frame);
  return frame;
}

}  // namespace

void Link::protest(const char* what) noexcept {
  fail(fmt::format("{} sent what is not the protocol of tmpi ({})", name(), what));
}

// The buffer may be filled again, and the peer may be told.
inline void Link::recycle(std::uint32_t buffer) noexcept {
  pool_.receives.give_back(buffer);
  ++owed_;
  if (owed_ * 2 >= pool_.credits) list_owing();  // settle() would return none sooner
}

void Link::on_received(Received received) noexcept {
  if (over() || received.bytes < sizeof(FrameHeader)) {
    pool_.receives.give_back(received.buffer);
    if (!over()) protest("a short frame");
    return;
  }
  const FrameHeader frame = frame_at(pool_.receives.data(received.buffer));
  if (state_ == State::kConnecting && ready_) establish();  // who sends is ready
  if (frame.credits > most_credits_ - credits_ || frame.reads > offers_.size()) {
    pool_.receives.give_back(received.buffer);
    return protest("more credit than there is");
  }
  credits_ += frame.credits;
  if (frame.kind == FrameKind::kCredit) {
    pool_.receives.give_back(received.buffer);
  } else if (frame.kind == FrameKind::kRead) {
    recycle(received.buffer);
  } else if (reading_ || kept_back_ || !held_.empty()) {
    held_.push_back(received);
  } else {
    deliver(received, frame);
  }
  if (frame.reads > 0 && !over()) complete_offers(frame.reads);
}

[[gnu::always_inline]] inline void Link::deliver(Received received, const FrameHeader& frame) noexcept {
  if (frame.kind == FrameKind::kGoodbye) {
    pool_.receives.give_back(received.buffer);
    hub_.goodbyes.push_back(this);
    return;
  }
  // Whoever posted the landings may be gone.
  if (closing_) return recycle(received.buffer);
  const std::size_t behind = received.bytes - sizeof frame;
  if (frame.header > kMostHeader || frame.header > behind || arriving_ != (frame.kind == FrameKind::kMore)) {
    recycle(received.buffer);
    return protest("a frame out of place");
  }
  switch (frame.kind) {
    case FrameKind::kWhole:
      return take_whole(received, frame);
    case FrameKind::kBegin:
      return take_begin(received, frame);
    case FrameKind::kMore:
      return take_more(received, frame);
    case FrameKind::kOffer:
      return take_offer(received, frame);
    default:
      recycle(received.buffer);
      return protest("a frame of an unknown kind");
  }
}

inline void Link::land() noexcept {
  arriving_ = false;
  ++hub_.traffic.messages_received;
  hub_.traffic.bytes_received += header_bytes_ + announced_;
  hub_.sink->landed(peer_, landing_.token);
}

inline void Link::take_whole(Received received, const FrameHeader& frame) noexcept {
  const std::byte* const header = pool_.receives.data(received.buffer) + sizeof frame;
  if (frame.payload != received.bytes - sizeof frame - frame.header) {
    recycle(received.buffer);
    return protest("a frame of a wrong size");
  }
  header_bytes_ = frame.header;
  announced_ = frame.payload;
  landing_ = hub_.sink->arriving(peer_, frame.id, {header, frame.header}, announced_);
  write_to(landing_, 0, header + frame.header, announced_);
  land();
  recycle(received.buffer);
}

void Link::take_begin(Received received, const FrameHeader& frame) noexcept {
  const std::byte* const header = pool_.receives.data(received.buffer) + sizeof frame;
  const std::size_t bytes = received.bytes - sizeof frame - frame.header;
  if (frame.payload <= bytes) {
    recycle(received.buffer);
    return protest("a frame of a wrong size");
  }
  header_bytes_ = frame.header;
  announced_ = frame.payload;
  landing_ = hub_.sink->arriving(peer_, frame.id, {header, frame.header}, announced_);
  write_to(landing_, 0, header + frame.header, bytes);
  arrived_ = bytes;
  arriving_ = true;
  recycle(received.buffer);
}

void Link::take_more(Received received, const FrameHeader& frame) noexcept {
  const std::byte* const data = pool_.receives.data(received.buffer) + sizeof frame;
  if (frame.header != 0 || frame.payload != received.bytes - sizeof frame ||
      frame.payload > announced_ - arrived_) {
    recycle(received.buffer);
    return protest("a frame of a wrong size");
  }
  write_to(landing_, arrived_, data, frame.payload);
  arrived_ += frame.payload;
  recycle(received.buffer);
  if (arrived_ == announced_) land();
}

void Link::take_offer(Received received, const FrameHeader& frame) noexcept {
  const std::byte* const header = pool_.receives.data(received.buffer) + sizeof frame;
  Offer offer;
  if (received.bytes != sizeof frame + frame.header + sizeof offer) {
    recycle(received.buffer);
    return protest("a frame of a wrong size");
  }
  std::memcpy(&offer, header + frame.header, sizeof offer);
  header_bytes_ = frame.header;
  announced_ = frame.payload;
  landing_ = hub_.sink->arriving(peer_, frame.id, {header, frame.header}, announced_);
  recycle(received.buffer);
  const std::size_t wanted = std::min<std::size_t>(landing_.capacity, frame.payload);
  if (wanted == 0) {
    ++owed_reads_;
    list_owing();
    return land();
  }
  reading_ = true;
  incoming_ = {};
  incoming_.buffer = static_cast<std::byte*>(landing_.buffer);
  incoming_.left = wanted;
  incoming_.remote = offer.address;
  incoming_.key = offer.key;
  start_read(incoming_, Registrations::Use::kWrite);
}

// --- RDMA reads

Post Link::get(std::uint32_t key, std::uint64_t remote, void* buffer, std::size_t bytes,
               Completion* completion) noexcept {
  if (over()) return Post::kInProgress;  // never completed: it would be taken for data
  if (bytes == 0) return Post::kDone;
  if (state_ != State::kUp) {
    if (state_ == State::kNone) connect();
    return Post::kNoResource;
  }
  if (gets_.size() - free_gets_.size() >= kMostGets || room() <= kSpareRequests) return Post::kNoResource;
  if (free_gets_.empty()) {
    gets_.push_back(std::make_unique<Read>());
    free_gets_.push_back(gets_.back().get());
  }
  Read& read = *free_gets_.back();
  read = {};
  read.buffer = static_cast<std::byte*>(buffer);
  read.left = bytes;
  read.remote = remote;
  read.key = key;
  read.completion = completion;
  if (!start_read(read, Registrations::Use::kWrite)) return Post::kNoResource;  // no buffer to read to
  free_gets_.pop_back();
  return Post::kInProgress;
}

bool Link::start_read(Read& read, Registrations::Use use) noexcept {
  read.registration = hub_.registrations.acquire(read.buffer, read.left, use);
  return issue(read);
}

// Posts the next piece. False: there is no send buffer to read to (an offer is then read later).
bool Link::issue(Read& read) noexcept {
  if (&read == &incoming_) {
    incoming_stalled_ = room() == 0;
    if (incoming_stalled_) {
      list_waiting();
      return false;
    }
  }
  std::uint32_t key = 0;
  std::byte* to = read.buffer;
  read.under_way = std::min(read.left, hub_.most_read);
  if (read.registration != nullptr) {
    key = read.registration->local_key();
  } else {
    if (read.staging == SendPool::kNone) read.staging = pool_.sends.take();
    if (read.staging == SendPool::kNone) {
      if (&read == &incoming_) {
        incoming_stalled_ = true;
        list_waiting();
      }
      return false;
    }
    key = pool_.sends.key();
    to = pool_.sends.data(read.staging);
    read.under_way = std::min<std::size_t>(read.under_way, pool_.sends.buffer_bytes());
  }
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(to), static_cast<std::uint32_t>(read.under_way), key};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_READ;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = read.remote;
  request.wr.rdma.rkey = read.key;
  post(request, {.what = Work::What::kRead, .read = &read});
  return true;
}

void Link::on_read(Read& read) noexcept {
  if (read.staging != SendPool::kNone)
    std::memcpy(read.buffer, pool_.sends.data(read.staging), read.under_way);
  read.buffer += read.under_way;
  read.remote += read.under_way;
  read.left -= read.under_way;
  if (read.left > 0) {
    issue(read);
    return;
  }
  if (read.registration != nullptr) hub_.registrations.release(*std::exchange(read.registration, nullptr));
  if (read.staging != SendPool::kNone) pool_.sends.give_back(std::exchange(read.staging, SendPool::kNone));
  finish_read(read);
}

void Link::finish_read(Read& read) noexcept {
  if (&read != &incoming_) {
    Completion* const completion = read.completion;
    free_gets_.push_back(&read);
    completion->done(*completion);
    return;
  }
  reading_ = false;
  ++owed_reads_;
  list_owing();
  if (!closing_) land();
  deliver_held();
}

void Link::release() noexcept {
  kept_back_ = false;
  if (!held_.empty()) hub_.released.push_back(this);
}

void Link::deliver_held() noexcept {
  while (!held_.empty() && !reading_ && !kept_back_ && !over()) {
    const Received next = held_.front();
    held_.pop_front();
    deliver(next, frame_at(pool_.receives.data(next.buffer)));
  }
}

}  // namespace tmpi::net::verbs
