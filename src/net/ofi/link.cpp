#include "net/ofi/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "net/secret.hpp"

namespace tmpi::net::ofi {
namespace {

// A peer that dies takes its endpoint and its sockets with it; which of the two is noticed first is chance, and the sockets
// know more. What it has sent before its end may be behind the end itself.
constexpr std::uint64_t kPatience = 300'000'000;
constexpr std::uint64_t kDraining = 20'000'000;
// In which a provider has given up what it was reading from a peer that is no more.
constexpr std::uint64_t kOrphaned = 2'000'000'000;

std::size_t bytes_of(std::span<const iovec> payload) noexcept {
  std::size_t bytes = 0;
  for (const iovec& piece : payload) bytes += piece.iov_len;
  return bytes;
}

std::byte* gather(std::byte* to, std::span<const iovec> payload) noexcept {
  for (const iovec& piece : payload) {
    if (piece.iov_len > 0) std::memcpy(to, piece.iov_base, piece.iov_len);
    to += piece.iov_len;
  }
  return to;
}

// What does not depend on when the frame leaves.
std::byte* begin_frame(std::byte* at, FrameKind kind, std::uint8_t id, std::span<const std::byte> header,
                       std::size_t payload) noexcept {
  FrameHeader begin;
  begin.kind = kind;
  begin.id = id;
  begin.header = static_cast<std::uint16_t>(header.size());
  begin.payload = payload;
  std::memcpy(at, &begin, sizeof begin);
  if (!header.empty()) std::memcpy(at + sizeof begin, header.data(), header.size());
  return at + sizeof begin + header.size();
}

}  // namespace

Link::Link(Hub& hub, int peer, std::string host, std::vector<std::byte> name)
    : hub_(hub), peer_(peer), host_(std::move(host)), name_bytes_(std::move(name)) {}

std::string Link::name() const {
  return fmt::format("node {} on {}", peer_, host_);
}

// --- the way to each other

void Link::connect() noexcept {
  state_ = State::kConnecting;
  if (!draw_random(std::as_writable_bytes(std::span(&own_token_, 1))) || own_token_ == 0)
    return fail("this system gives no random numbers (getrandom fails)");
  if (const auto added = hub_.frames->add_receives(hub_.credits + kSpareReceives); !added)
    return fail(added.message());
  Connect mine;
  mine.token = own_token_;
  mine.credits = hub_.credits;
  // Little goes this way: there is always room.
  hub_.side->send(peer_, static_cast<std::uint8_t>(SideId::kConnect), std::as_bytes(std::span(&mine, 1)), {},
                  nullptr);
}

void Link::on_connect(const Connect& theirs) noexcept {
  if (over() || (closing_ && state_ == State::kNone)) return;
  if (state_ == State::kUp || theirs.magic != kConnectMagic || theirs.frame_bytes != kFrameBytes ||
      theirs.credits == 0 || theirs.credits > UINT16_MAX || theirs.token == 0)
    return nonsense();
  if (state_ == State::kNone) connect();
  address_ = hub_.fabric->insert(name_bytes_);
  if (address_ == FI_ADDR_NOTAVAIL)
    return fail(fmt::format("provider {} cannot use the address of {}", hub_.fabric->provider(), name()));
  peer_token_ = theirs.token;
  credits_ = most_credits_ = theirs.credits;
  state_ = State::kUp;
  if (waits()) list_waiting();
  if (owed_ > 0 || reads_owed_ > 0) list_owing();
}

// --- what leaves

Post Link::send(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                Completion* completion) noexcept {
  if (over()) return Post::kDone;
  const std::size_t bytes = bytes_of(payload);
  const Post post = bytes <= kMostPayload ? send_whole(id, header, payload, bytes)
                                          : send_offer(id, header, payload, bytes, completion);
  if (post == Post::kNoResource) return post;
  ++hub_.traffic.messages_sent;
  hub_.traffic.bytes_sent += header.size() + bytes;
  if (state_ == State::kNone) connect();
  return post;
}

Post Link::send_whole(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                      std::size_t bytes) noexcept {
  const std::size_t size = sizeof(FrameHeader) + header.size() + bytes;
  if (queue_.empty() && can_send() && credits_ > 0) {
    if (Frame* const frame = hub_.frames->take()) {
      gather(begin_frame(frame->data, FrameKind::kWhole, id, header, bytes), payload);
      if (launch(frame, size)) {
        --credits_;
        return Post::kDone;
      }
      hub_.frames->give_back(frame);
    }
  }
  if (copied_ + size > kMostCopied) return Post::kNoResource;
  Waiting waiting;
  waiting.frame.resize(size);
  gather(begin_frame(waiting.frame.data(), FrameKind::kWhole, id, header, bytes), payload);
  copied_ += size;
  queue_.push_back(std::move(waiting));
  list_waiting();
  return Post::kDone;
}

// A payload in pieces is copied, since what is read is one piece.
Post Link::send_offer(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                      std::size_t bytes, Completion* completion) noexcept {
  if (references_ >= kMostReferences) return Post::kNoResource;
  auto offered = std::make_unique<Offered>();
  const auto whole = std::find_if(payload.begin(), payload.end(),
                                  [bytes](const iovec& piece) { return piece.iov_len == bytes; });
  const void* from = whole != payload.end() ? whole->iov_base : nullptr;
  if (from == nullptr) {
    offered->packed.reset(new (std::nothrow) std::byte[bytes]);
    if (offered->packed == nullptr) return Post::kNoResource;
    gather(offered->packed.get(), payload);
    from = offered->packed.get();
  } else {
    offered->completion = completion;
  }
  int error = 0;
  offered->registered = hub_.fabric->register_memory(from, bytes, FI_REMOTE_READ, error);
  if (offered->registered == nullptr) {
    fail(fmt::format("{} KiB of memory that {} is to read cannot be registered with provider {} ({})",
                     bytes >> 10, name(), hub_.fabric->provider(), hub_.fabric->api().strerror(error)));
    return Post::kNoResource;
  }
  const Offer offer{hub_.fabric->names_by_address() ? reinterpret_cast<std::uint64_t>(from) : 0,
                    fi_mr_key(offered->registered.get())};
  Waiting waiting;
  waiting.frame.resize(sizeof(FrameHeader) + header.size() + sizeof offer);
  std::memcpy(begin_frame(waiting.frame.data(), FrameKind::kOffer, id, header, bytes), &offer, sizeof offer);
  const bool refers = offered->completion != nullptr;
  waiting.offer = std::move(offered);
  ++references_;
  queue_.push_back(std::move(waiting));
  flush();
  if (waits()) list_waiting();
  return refers ? Post::kInProgress : Post::kDone;
}

// False, and nothing has happened: there is no room, or the link is failing.
bool Link::launch(Frame* frame, std::size_t bytes) noexcept {
  FrameHeader header = header_of(*frame);
  header.token = peer_token_;
  header.node = hub_.node;
  header.sequence = sent_;
  header.credits = static_cast<std::uint16_t>(std::min<std::uint32_t>(owed_, UINT16_MAX));
  header.reads = static_cast<std::uint16_t>(std::min<std::uint32_t>(reads_owed_, UINT16_MAX));
  std::memcpy(frame->data, &header, sizeof header);
  frame->link = this;
  const ssize_t error =
      fi_send(hub_.fabric->endpoint(), frame->data, bytes, frame->descriptor, address_, &frame->context);
  if (error != 0) {
    if (error != -FI_EAGAIN)
      fail(fmt::format("provider {} cannot send to {}: {}", hub_.fabric->provider(), name(),
                       hub_.fabric->api().strerror(static_cast<int>(-error))));
    return false;
  }
  ++sent_;
  owed_ -= header.credits;
  reads_owed_ -= header.reads;
  ++under_way_;
  ++hub_.under_way;
  return true;
}

bool Link::launch_bare(FrameKind kind) noexcept {
  Frame* const frame = hub_.frames->take();
  if (frame == nullptr) return false;
  begin_frame(frame->data, kind, 0, {}, 0);
  if (launch(frame, sizeof(FrameHeader))) return true;
  hub_.frames->give_back(frame);
  return false;
}

bool Link::flush() noexcept {
  bool went = false;
  while (!queue_.empty() && can_send() && credits_ > 0) {
    Waiting& waiting = queue_.front();
    if (waiting.offer != nullptr && offers_.size() >= kMostOffers) break;
    Frame* const frame = hub_.frames->take();
    if (frame == nullptr) break;
    std::memcpy(frame->data, waiting.frame.data(), waiting.frame.size());
    if (!launch(frame, waiting.frame.size())) {
      hub_.frames->give_back(frame);
      break;
    }
    --credits_;
    if (waiting.offer != nullptr)
      offers_.push_back(std::move(waiting.offer));
    else
      copied_ -= waiting.frame.size();
    queue_.pop_front();
    went = true;
  }
  if (closing_ && !said_goodbye_ && queue_.empty() && offers_.empty() && can_send()) {
    said_goodbye_ = launch_bare(FrameKind::kGoodbye);
    went = went || said_goodbye_;
  }
  return went;
}

bool Link::waits() const noexcept {
  return !over() && (!queue_.empty() || (closing_ && !said_goodbye_ && state_ != State::kNone));
}

void Link::list_waiting() noexcept {
  if (!listed_waiting) hub_.waiting.push_back(this);
  listed_waiting = true;
}

void Link::list_owing() noexcept {
  if (!listed_owing) hub_.owing.push_back(this);
  listed_owing = true;
}

void Link::settle() noexcept {
  if (!can_send() || (reads_owed_ == 0 && owed_ < hub_.credits / 2)) return;
  if (!launch_bare(FrameKind::kNotice)) list_owing();
}

void Link::on_sent(const std::string& error) noexcept {
  --under_way_;
  if (!error.empty())
    fail(fmt::format("provider {} has failed to send to {}: {}", hub_.fabric->provider(), name(), error));
}

// --- the end

void Link::end(Ending how, const std::string& why, std::uint64_t patience) noexcept {
  if (over()) return;
  if (ending_ == Ending::kNone) hub_.ending.push_back(this);
  ending_ = how;
  trouble_ = why;
  end_at_ = nanoseconds_now() + patience;
}

void Link::fail(const std::string& why) noexcept {
  if (ending_ == Ending::kNone) end(Ending::kLoss, why, kPatience);
}

void Link::on_side_lost(const std::string& why) noexcept {
  end(Ending::kLoss, why, kDraining);
}

void Link::on_side_gone() noexcept {
  if (ending_ != Ending::kGone && state_ != State::kNone) end(Ending::kGone, {}, kDraining);
}

bool Link::end_if_due(std::uint64_t now) noexcept {
  if (over()) return true;
  if (now < end_at_) return false;
  state_ = ending_ == Ending::kGone ? State::kGone : State::kLost;
  if (state_ == State::kLost && !hub_.closing) hub_.sink->lost(peer_, trouble_);
  drop();
  return true;
}

// The peer is served no longer. What it was to be sent vanishes, and the buffers are free; what was to come from there
// never does.
void Link::drop() noexcept {
  for (const Held& held : std::exchange(held_, {})) hub_.frames->repost(held.frame);
  std::erase_if(hub_.blocked, [this](const Read* read) { return read->link == this; });
  for (Waiting& waiting : std::exchange(queue_, {}))
    if (waiting.offer != nullptr && waiting.offer->completion != nullptr)
      hub_.finished.push_back(waiting.offer->completion);
  for (const auto& offer : std::exchange(offers_, {}))
    if (offer->completion != nullptr) hub_.finished.push_back(offer->completion);
  copied_ = references_ = 0;
  // Buffers that the provider may still write to are given back when it says so.
  std::erase_if(gets_, [this](const auto& get) {
    if (get->asked > 0) return false;
    hub_.finished.push_back(get->completion);
    return true;
  });
  if (gets_.empty()) return;
  orphans_until_ = nanoseconds_now() + kOrphaned;
  hub_.orphans.push_back(this);
}

bool Link::end_orphans(std::uint64_t now) noexcept {
  if (gets_.empty()) return true;
  if (now < orphans_until_) return false;
  for (const auto& get : gets_)
    if (get->completion != nullptr) hub_.finished.push_back(std::exchange(get->completion, nullptr));
  return true;
}

bool Link::idle() const noexcept {
  return over() || (queue_.empty() && under_way_ == 0 && offers_.empty() && gets_.empty());
}

void Link::begin_close() noexcept {
  closing_ = true;
  if (waits()) list_waiting();
}

bool Link::closed() const noexcept {
  return over() || state_ == State::kNone || ending_ != Ending::kNone || (said_goodbye_ && heard_);
}

void Link::end_close() noexcept {
  if (over()) return;
  state_ = State::kGone;
  drop();
}

}  // namespace tmpi::net::ofi
