#include "net/verbs/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/copy_few.hpp"

namespace tmpi::net::verbs {
namespace {

constexpr std::size_t kLargestInline = 512;  // of any adapter that says it could do more

// Copies the next `bytes` bytes of the parts and moves the position behind them.
void copy_parts(std::byte* to, const std::vector<iovec>& parts, std::size_t& part, std::size_t& offset,
                std::size_t bytes) noexcept {
  while (bytes > 0) {
    const std::size_t n = std::min(bytes, parts[part].iov_len - offset);
    if (n > 0) std::memcpy(to, static_cast<const std::byte*>(parts[part].iov_base) + offset, n);
    to += n;
    bytes -= n;
    offset += n;
    if (offset == parts[part].iov_len) {
      ++part;
      offset = 0;
    }
  }
}

}  // namespace

Link::Link(Hub& hub, FramePool& pool, int peer, std::string host)
    : hub_(hub), pool_(pool), first_(nullptr), peer_(peer), host_(std::move(host)) {}

Link::Link(Hub& hub, FramePool& pool, Link& first)
    : hub_(hub), pool_(pool), first_(&first), peer_(first.peer_), host_(first.host_), kept_back_(true) {}

std::string Link::name() const {
  return fmt::format("node {} on host {}", peer_, host_);
}

void Link::list_waiting() noexcept {
  if (listed_waiting) return;
  listed_waiting = true;
  hub_.waiting.push_back(this);
}

void Link::list_owing() noexcept {
  if (listed_owing) return;
  listed_owing = true;
  hub_.owing.push_back(this);
}

// --- work requests

bool Link::refuse(const Work& work, int error) noexcept {
  --works_tail_;
  --hub_.under_way;
  if (work.buffer != SendPool::kNone && work.what == Work::What::kFrame) pool_.sends.give_back(work.buffer);
  fail(fmt::format("{} does not take a message to {} ({})", hub_.device->where(), name(),
                   std::strerror(error)));
  return false;
}

// A frame of so many bytes, with credit, could leave now.
inline bool Link::may_send(std::size_t frame) const noexcept {
  return state_ == State::kUp && trouble_.empty() && credits_ > 0 && room() > kSpareRequests &&
         (frame <= hub_.device->most_inline || !pool_.sends.empty());
}

// One without: there is always room for these.
bool Link::may_send_bare() const noexcept {
  return room() > 0 && (sizeof(FrameHeader) <= hub_.device->most_inline || !pool_.sends.empty());
}

// `parts`: what stands behind the header, all of it. There is room, and a buffer if it takes one.
void Link::post_frame(FrameKind kind, std::uint8_t id, std::size_t payload, std::span<const std::byte> header,
                      std::span<const iovec> parts) noexcept {
  std::size_t bytes = sizeof(FrameHeader) + header.size();
  for (const iovec& part : parts) bytes += part.iov_len;
  const std::size_t most_inline = std::min<std::size_t>(hub_.device->most_inline, kLargestInline);
  std::byte small[kLargestInline];
  const bool fits = bytes <= most_inline;
  const std::uint32_t buffer = fits ? SendPool::kNone : pool_.sends.take();
  std::byte* const frame = fits ? small : pool_.sends.data(buffer);

  const auto credits = static_cast<std::uint16_t>(owed_);
  const auto reads = static_cast<std::uint16_t>(owed_reads_);
  const FrameHeader head{kind, id, static_cast<std::uint16_t>(header.size()), credits, reads, payload};
  std::memcpy(frame, &head, sizeof head);
  std::byte* at = frame + sizeof head;
  copy_few(at, header.data(), header.size());
  at += header.size();
  for (const iovec& part : parts) {
    copy_few(at, part.iov_base, part.iov_len);
    at += part.iov_len;
  }
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(frame), static_cast<std::uint32_t>(bytes),
                fits ? 0 : pool_.sends.key()};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED | (fits ? static_cast<unsigned>(IBV_SEND_INLINE) : 0u);
  if (!post(request, {.what = Work::What::kFrame, .buffer = buffer})) return;
  owed_ -= credits;
  owed_reads_ -= reads;
  if (kind != FrameKind::kCredit && kind != FrameKind::kGoodbye) --credits_;
}

void Link::post_bare(FrameKind kind) noexcept {
  post_frame(kind, 0, 0, {}, {});
}

void Link::on_sent(std::uint32_t sequence, ibv_wc_status status) noexcept {
  if (sequence != works_head_ || works_head_ == works_tail_) return;  // of a queue pair that is no more
  const Work work = work_at(works_head_);
  ++works_head_;
  --hub_.under_way;
  if (work.what == Work::What::kFrame && work.buffer != SendPool::kNone) pool_.sends.give_back(work.buffer);
  if (status == IBV_WC_SUCCESS) {
    if (work.what == Work::What::kRead && !over()) on_read(*work.read);
    if (work.what == Work::What::kClose && !over()) end_exposure(*work.exposure, false);
    return;
  }
  // With the queue pair in error nobody reads there any more, either.
  if (work.what == Work::What::kClose && !over()) end_exposure(*work.exposure, true);
  if (over()) return;
  switch (status) {
    case IBV_WC_WR_FLUSH_ERR:
      return fail_without_reason();  // if there is one it has come before
    case IBV_WC_RETRY_EXC_ERR:
      return fail(
          fmt::format("{} does not answer {}: its adapter, or a cable or switch between, is down "
                      "(`ibv_devinfo` and, on Ethernet, "
                      "`rdma link` show the ports; --net verbs:NAME chooses another adapter)",
                      name(), hub_.device->where()));
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return fail(
          fmt::format("{} takes no more messages from {}: its process hangs", name(), hub_.device->where()));
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      return fail(
          fmt::format("{} refused {} access to its memory (completion status {}): its process has "
                      "probably died",
                      name(), hub_.device->where(), static_cast<int>(status)));
    default:
      return fail(fmt::format("the connection from {} to {} failed (completion status {}); dmesg may say why",
                              hub_.device->where(), name(), static_cast<int>(status)));
  }
}

// Linux 6.1's software RoCE throws away why a request that it has carried out itself, as opening a window, has failed.
void Link::fail_without_reason() noexcept {
  fail(
      fmt::format("{} has given up the connection to {} and does not say why (dmesg may; --net verbs:NAME "
                  "chooses another "
                  "adapter, --net tcp none)",
                  hub_.device->where(), name()));
}

void Link::watch(std::uint64_t elapsed) noexcept {
  for (const auto& sibling : siblings) sibling->watch(elapsed);
  if (works_head_ == works_tail_ || over() || !trouble_.empty()) return;
  const Work& oldest = work_at(works_head_);
  const std::size_t bytes = oldest.what == Work::What::kRead ? oldest.read->under_way : pool_.payload;
  if (!watch_.look(works_head_, bytes, elapsed, hub_.patience)) return;
  fail(fmt::format(
      "{} has neither done what it was told to do for {} more than {} s ago nor given up: the adapter, "
      "its driver or the network hangs (dmesg may say why; --net verbs:NAME chooses another adapter, "
      "--net tcp none)",
      hub_.device->where(), name(), hub_.patience / 1'000'000'000));
}

// --- sending

Post Link::send(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                Completion* completion) noexcept {
  if (over()) return Post::kDone;
  std::size_t bytes = 0;
  for (const iovec& part : payload) bytes += part.iov_len;
  const bool small = bytes <= kMostBuffered;
  const bool at_once =
      bytes <= pool_.payload && queue_.empty() && may_send(sizeof(FrameHeader) + header.size() + bytes);
  if (at_once) {
    post_frame(FrameKind::kWhole, id, bytes, header, payload);
  } else {
    if (small ? copied_ + bytes > kMostCopied : references_ >= kMostReferences) return Post::kNoResource;
    enqueue(id, header, payload, bytes, completion);
    if (state_ == State::kNone) connect();
    flush();
  }
  ++hub_.traffic.messages_sent;
  hub_.traffic.bytes_sent += header.size() + bytes;
  return small || at_once ? Post::kDone : Post::kInProgress;
}

void Link::enqueue(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                   std::size_t bytes, Completion* completion) {
  const bool small = bytes <= kMostBuffered;
  Waiting message;
  message.id = id;
  message.header = static_cast<std::uint16_t>(header.size());
  message.payload = bytes;
  message.bytes.reserve(header.size() + (small ? bytes : 0));
  message.bytes.assign(header.begin(), header.end());
  if (small) {
    for (const iovec& part : payload) {
      const auto* const from = static_cast<const std::byte*>(part.iov_base);
      message.bytes.insert(message.bytes.end(), from, from + part.iov_len);
    }
    copied_ += message.bytes.size();
  } else {
    for (const iovec& part : payload)
      if (part.iov_len != 0) message.parts.push_back(part);
    message.completion = completion;
    ++references_;
    if (message.parts.size() == 1 && bytes > pool_.payload)
      message.exposure = hub_.exposures.make(peer_, message.parts[0].iov_base, bytes);  // null: in pieces
  }
  queue_.push_back(std::move(message));
  list_waiting();
}

bool Link::flush() noexcept {
  if (state_ != State::kUp) return false;
  bool went = false;
  if (incoming_stalled_ && issue(incoming_)) went = true;
  while (!closing_windows_.empty() && room() > kSpareRequests / 2 && trouble_.empty()) {
    Exposure* const exposure = closing_windows_.front();
    closing_windows_.pop_front();
    close_window(*exposure);
    went = true;
  }
  while (!queue_.empty() && state_ == State::kUp) {
    Waiting& message = queue_.front();
    const std::size_t before = message.gone;
    const bool all = push(message);
    went = went || all || message.gone != before;
    if (!all) break;
    copied_ -= message.parts.empty() ? message.bytes.size() : 0;
    references_ -= message.parts.empty() ? 0 : 1;
    queue_.pop_front();
  }
  return went;
}

// True: all of it has left.
bool Link::push(Waiting& message) noexcept {
  if (message.kind == Waiting::Kind::kGoodbye) {
    if (!may_send_bare()) return false;
    post_bare(FrameKind::kGoodbye);
    return true;
  }
  if (message.kind == Waiting::Kind::kOpen) {
    if (message.exposure->state == Exposure::State::kDropped) {
      end_exposure(*message.exposure, false);
      return true;
    }
    return room() > kSpareRequests && open_window(*message.exposure);
  }
  if (message.exposure != nullptr) return push_offer(message);
  if (message.payload > pool_.payload) return push_pieces(message);
  if (!may_send(sizeof(FrameHeader) + message.header + message.payload)) return false;
  const std::span<const std::byte> header = std::span<const std::byte>(message.bytes).first(message.header);
  const iovec copied{message.bytes.data() + message.header, message.payload};
  const bool referred = !message.parts.empty();
  post_frame(FrameKind::kWhole, message.id, message.payload, header,
             referred ? std::span<const iovec>(message.parts) : std::span<const iovec>(&copied, 1));
  if (referred) hub_.finished.push_back(message.completion);  // may be outside poll()
  return true;
}

bool Link::push_offer(Waiting& message) noexcept {
  if (offers_.size() >= kMostOffers || room() <= kSpareRequests + 1 ||
      !may_send(sizeof(FrameHeader) + message.bytes.size() + sizeof(Offer)))
    return false;
  Exposure& exposure = *message.exposure;
  if (!open_window(exposure)) return false;
  exposure.completion = message.completion;
  const Offer offer{reinterpret_cast<std::uintptr_t>(exposure.address), exposure.key, 0};
  const iovec rest{const_cast<Offer*>(&offer), sizeof offer};
  offers_.push_back(&exposure);
  post_frame(FrameKind::kOffer, message.id, message.payload, message.bytes, {&rest, 1});
  return true;
}

bool Link::push_pieces(Waiting& message) noexcept {
  while (message.gone < message.payload) {
    if (!may_send(pool_.frame_bytes())) return false;
    const std::uint32_t buffer = pool_.sends.take();
    std::byte* const frame = pool_.sends.data(buffer);
    const std::size_t header = message.begun ? 0 : message.header;
    const std::size_t n = std::min(message.payload - message.gone, pool_.payload);
    const FrameHeader head{message.begun ? FrameKind::kMore : FrameKind::kBegin,
                           message.id,
                           static_cast<std::uint16_t>(header),
                           static_cast<std::uint16_t>(owed_),
                           static_cast<std::uint16_t>(owed_reads_),
                           message.begun ? n : message.payload};
    std::memcpy(frame, &head, sizeof head);
    if (header != 0) std::memcpy(frame + sizeof head, message.bytes.data(), header);
    copy_parts(frame + sizeof head + header, message.parts, message.part, message.offset, n);
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(frame),
                  static_cast<std::uint32_t>(sizeof head + header + n), pool_.sends.key()};
    ibv_send_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    if (!post(request, {.what = Work::What::kFrame, .buffer = buffer})) return false;
    owed_ -= head.credits;
    owed_reads_ -= head.reads;
    --credits_;
    message.begun = true;
    message.gone += n;
  }
  hub_.finished.push_back(message.completion);  // may be outside poll()
  return true;
}

void Link::complete_offers(std::uint32_t count) noexcept {
  while (count-- > 0) {
    Exposure* const exposure = offers_.front();
    offers_.pop_front();
    close_window(*exposure);
  }
}

void Link::settle() noexcept {
  if (state_ != State::kUp || (retiring_ && owed_reads_ == 0)) return;
  if (owed_reads_ > 0 && may_send(sizeof(FrameHeader))) return post_bare(FrameKind::kRead);
  // Without credit of its own: half of the peer's is its due in any case, and the frame says the rest, too.
  if (owed_ * 2 >= pool_.credits && may_send_bare()) return post_bare(FrameKind::kCredit);
  if (owed_reads_ > 0 || owed_ * 2 >= pool_.credits) list_owing();
}

}  // namespace tmpi::net::verbs
