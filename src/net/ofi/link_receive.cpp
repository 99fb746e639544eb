#include "net/ofi/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tmpi::net::ofi {
void Link::nonsense() noexcept {
  fail(fmt::format("{} sent what is not the protocol of tmpi", name()));
}

void Link::on_frame(Frame* frame, std::size_t bytes) noexcept {
  const FrameHeader header = header_of(*frame);
  if (over() || (ending_ == Ending::kLoss && header.sequence != received_)) return hub_.frames->repost(frame);
  if (header.sequence != received_) {
    fail(fmt::format("provider {} has lost a message of {}, or changed the order", hub_.fabric->provider(),
                     name()));
    return hub_.frames->repost(frame);
  }
  ++received_;
  if (!take_notices(header)) {
    nonsense();
    return hub_.frames->repost(frame);
  }
  if (header.kind == FrameKind::kNotice) return hub_.frames->repost(frame);
  if (reading_ || !held_.empty())
    held_.push_back({frame, bytes});
  else
    deliver(frame, bytes);
}

// What every frame says. False: it cannot be.
bool Link::take_notices(const FrameHeader& header) noexcept {
  if (header.credits > most_credits_ - credits_ || header.reads > offers_.size()) return false;
  credits_ += header.credits;
  for (unsigned i = 0; i < header.reads; ++i) {
    if (offers_.front()->completion != nullptr) hub_.finished.push_back(offers_.front()->completion);
    offers_.pop_front();
    --references_;
  }
  return true;
}

void Link::deliver(Frame* frame, std::size_t bytes) noexcept {
  const FrameHeader header = header_of(*frame);
  const std::size_t inside = bytes - sizeof header;
  if (header.kind == FrameKind::kGoodbye) {
    hub_.frames->repost(frame);
    hub_.side->send(peer_, static_cast<std::uint8_t>(SideId::kHeard), {}, {}, nullptr);
    state_ = State::kGone;
    return drop();
  }
  const bool whole = header.kind == FrameKind::kWhole;
  const std::size_t behind = whole ? header.payload : sizeof(Offer);
  if ((!whole && header.kind != FrameKind::kOffer) || header.header > kMostHeader || inside < header.header ||
      inside - header.header != behind) {
    hub_.frames->repost(frame);
    return nonsense();
  }
  const std::byte* const begin = frame->data + sizeof header;
  const Landing landing = hub_.sink->arriving(peer_, header.id, {begin, header.header}, header.payload);
  landing_bytes_ = header.header + header.payload;
  token_ = landing.token;
  ++owed_;
  list_owing();
  if (whole) {
    const std::size_t room = std::min<std::size_t>(landing.capacity, header.payload);
    if (room > 0) std::memcpy(landing.buffer, begin + header.header, room);
    hub_.frames->repost(frame);
    return end_landing();
  }
  Offer offer;
  std::memcpy(&offer, begin + header.header, sizeof offer);
  hub_.frames->repost(frame);
  if (begin_read(offer, landing, header.payload)) return;
  ++reads_owed_;
  end_landing();
}

void Link::end_landing() noexcept {
  ++hub_.traffic.messages_received;
  hub_.traffic.bytes_received += landing_bytes_;
  hub_.sink->landed(peer_, std::exchange(token_, nullptr));
}

// False: there is nothing to be read.
bool Link::begin_read(const Offer& offer, const Landing& landing, std::size_t payload) noexcept {
  const std::size_t room = std::min(landing.capacity, payload);
  if (room == 0) return false;
  incoming_.to = static_cast<std::byte*>(landing.buffer);
  incoming_.remote = offer.remote;
  incoming_.key = offer.key;
  incoming_.left = room;
  reading_ = true;
  start(incoming_);
  return true;
}

// False: the link is failing.
bool Link::start(Read& read) noexcept {
  if (hub_.fabric->registers_local()) {
    int error = 0;
    read.registered = hub_.fabric->register_memory(read.to, read.left, FI_READ, error);
    if (read.registered == nullptr) {
      fail(fmt::format("{} KiB of memory that are to come from {} cannot be registered with provider {} ({})",
                       read.left >> 10, name(), hub_.fabric->provider(), hub_.fabric->api().strerror(error)));
      return false;
    }
  }
  if (!read_on(read)) hub_.blocked.push_back(&read);
  return true;
}

bool Link::read_on(Read& read) noexcept {
  if (over() || ending_ != Ending::kNone) return true;
  const std::size_t bytes = std::min(read.left, hub_.most_read);
  void* const descriptor = read.registered ? fi_mr_desc(read.registered.get()) : nullptr;
  const ssize_t error = fi_read(hub_.fabric->endpoint(), read.to, bytes, descriptor, address_, read.remote,
                                read.key, &read.context);
  if (error == -FI_EAGAIN) return false;
  if (error != 0) {
    fail(fmt::format("provider {} cannot read from {}: {}", hub_.fabric->provider(), name(),
                     hub_.fabric->api().strerror(static_cast<int>(-error))));
    return true;
  }
  read.asked = bytes;
  ++hub_.under_way;
  return true;
}

// The bytes that were asked for are there, or (the link is failing) never will be.
void Link::on_read(Read& read, const std::string& error) noexcept {
  const std::size_t bytes = std::exchange(read.asked, 0);
  if (!error.empty())
    fail(fmt::format("provider {} has failed to read from {}: {}", hub_.fabric->provider(), name(), error));
  if (over() || ending_ == Ending::kLoss || !error.empty()) {
    // Those of a failing link end with it, by drop().
    if (over() && &read != &incoming_) {
      if (read.completion != nullptr) hub_.finished.push_back(read.completion);
      std::erase_if(gets_, [&](const auto& get) { return get.get() == &read; });
    }
    return;
  }
  read.to += bytes;
  read.remote += bytes;
  read.left -= bytes;
  if (read.left > 0) {
    if (!read_on(read)) hub_.blocked.push_back(&read);
    return;
  }
  read.registered.reset();
  if (&read != &incoming_) {
    hub_.finished.push_back(read.completion);
    std::erase_if(gets_, [&](const auto& get) { return get.get() == &read; });
    return;
  }
  reading_ = false;
  ++reads_owed_;
  list_owing();
  end_landing();
  deliver_held();
}

void Link::deliver_held() noexcept {
  while (!held_.empty() && !reading_ && !over()) {
    const Held next = held_.front();
    held_.pop_front();
    deliver(next.frame, next.bytes);
  }
}

Post Link::get(std::uint64_t key, std::uint64_t remote, void* buffer, std::size_t bytes,
               Completion* completion) noexcept {
  if (over() || bytes == 0) return Post::kDone;
  if (gets_.size() >= kMostGets || !can_send()) return Post::kNoResource;
  Read& read = *gets_.emplace_back(std::make_unique<Read>(*this));
  read.to = static_cast<std::byte*>(buffer);
  read.remote = remote;
  read.key = key;
  read.left = bytes;
  read.completion = completion;
  if (start(read)) return Post::kInProgress;
  gets_.pop_back();
  return Post::kNoResource;
}

}  // namespace tmpi::net::ofi
