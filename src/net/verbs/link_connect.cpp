// Link's way to a connected queue pair, and its end.
//
//     A                                  B
//     Connect ---------- tcp ---------->          B makes its queue pair and connects it to A's
//             <--------- tcp ----------- Connect, Ready
//     Ready   ---------- tcp ---------->          each sends frames when the other one's queue pair is ready
//
// Both may begin at once: then both Connects cross, and everything else is the same.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "net/secret.hpp"
#include "net/verbs/link.hpp"

namespace tmpi::net::verbs {
namespace {

// 4.096 us * 2^16 = 268 ms, six times again: what a dead way costs, without giving up on a slow one. Not seven times:
// software RoCE takes that for "for ever".
constexpr std::uint8_t kTimeout = 16;
constexpr std::uint8_t kRetries = 6;
constexpr std::uint8_t kForever = 7;    // RNR: credits see to it that it does not happen
constexpr std::uint8_t kRnrDelay = 12;  // 0.64 ms
constexpr std::uint32_t kMostReads = 16;
// A peer that dies takes its queue pair and its sockets with it; which of the two is noticed first is chance, and
// the sockets know more.
constexpr std::uint64_t kPatience = 300'000'000;
// In which any processor has dealt with the packet that it is at.
constexpr std::uint64_t kStopping = 1'000'000;

std::uint32_t draw_packet_number() {
  std::uint32_t number = 0;
  if (!draw_random(std::as_writable_bytes(std::span(&number, 1)))) number = 0;
  return number & 0xffffff;
}

}  // namespace

bool Link::make_queue_pair() noexcept {
  if (pair_ != nullptr) return true;
  if (!joined_) {
    if (const auto joined = pool_.join(); !joined) {
      fail(joined.message());
      return false;
    }
    joined_ = true;
  }
  pair_ = hub_.device->make_queue_pair(pool_.sent, pool_.received, pool_.receives.queue(), pool_.depth);
  if (pair_ == nullptr) {
    fail(cannot(*hub_.device, fmt::format("make a queue pair for {}", name()), errno).message);
    return false;
  }
  works_.resize(std::bit_ceil(pool_.depth));
  first_packet_ = draw_packet_number();
  hub_.by_pair.add(pair_->qp_num, *this);
  return true;
}

void Link::connect() noexcept {
  state_ = State::kConnecting;
  if (!make_queue_pair()) return;
  const Connect mine = own_end();
  // Little goes this way: there is always room.
  hub_.side->send(peer_, static_cast<std::uint8_t>(SideId::kConnect), std::as_bytes(std::span(&mine, 1)), {},
                  nullptr);
}

Connect Link::own_end() const noexcept {
  const Device& device = *hub_.device;
  Connect mine;
  mine.queue_pair = pair_->qp_num;
  mine.first_packet = first_packet_;
  mine.credits = pool_.credits;
  mine.buffer_bytes = pool_.frame_bytes();
  mine.lid = device.port_attributes.lid;
  mine.mtu = static_cast<std::uint8_t>(device.port_attributes.active_mtu);
  mine.ethernet = device.ethernet ? 1 : 0;
  std::memcpy(mine.gid, device.gid.raw, sizeof mine.gid);
  mine.most_reads =
      std::min(static_cast<std::uint32_t>(std::max(device.attributes.max_qp_rd_atom, 1)), kMostReads);
  return mine;
}

bool Link::make_sibling(Connect& mine) noexcept {
  if (!make_queue_pair()) return false;
  state_ = State::kConnecting;
  mine = own_end();
  return true;
}

bool Link::connect_sibling(const Connect& theirs) noexcept {
  if (theirs.magic != kConnectMagic || theirs.buffer_bytes != pool_.frame_bytes() || theirs.credits == 0 ||
      theirs.credits > UINT16_MAX || theirs.most_reads == 0 || make_ready(theirs) != 0)
    return false;
  ready_ = true;
  credits_ = most_credits_ = theirs.credits;
  establish();
  return true;
}

void Link::on_connect(const Connect& theirs) noexcept {
  if (over() || (closing_ && state_ == State::kNone)) return;
  if (ready_ || theirs.magic != kConnectMagic || theirs.buffer_bytes != pool_.frame_bytes() ||
      theirs.credits == 0 || theirs.credits > UINT16_MAX || theirs.most_reads == 0)
    return fail(fmt::format("{} sent what is not the protocol of tmpi", name()));
  if ((theirs.ethernet != 0) != hub_.device->ethernet)
    return fail(fmt::format(
        "{} uses {} and this node {}: choose adapters of one network with --net verbs:NAME", name(),
        theirs.ethernet != 0 ? "RoCE" : "InfiniBand", hub_.device->ethernet ? "RoCE" : "InfiniBand"));
  if (state_ == State::kNone) connect();
  if (pair_ == nullptr) return;
  if (const int error = make_ready(theirs)) {
    ibv_gid gid;
    std::memcpy(gid.raw, theirs.gid, sizeof theirs.gid);
    return fail(fmt::format(
        "{} cannot reach the adapter of {} at {} ({}): are both in one network? --net verbs:NAME chooses "
        "another adapter",
        hub_.device->where(), name(),
        theirs.ethernet != 0 ? gid_text(gid) : fmt::format("LID {}", theirs.lid), std::strerror(error)));
  }
  ready_ = true;
  credits_ = most_credits_ = theirs.credits;
  hub_.side->send(peer_, static_cast<std::uint8_t>(SideId::kReady), {}, {}, nullptr);
  if (peer_ready_) establish();
}

// 0, or an error of the system.
int Link::make_ready(const Connect& theirs) noexcept {
  const Device& device = *hub_.device;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = std::min(device.port_attributes.active_mtu, static_cast<ibv_mtu>(theirs.mtu));
  attr.dest_qp_num = theirs.queue_pair;
  attr.rq_psn = theirs.first_packet;
  attr.max_dest_rd_atomic = static_cast<std::uint8_t>(
      std::min(static_cast<std::uint32_t>(std::max(device.attributes.max_qp_rd_atom, 1)), kMostReads));
  attr.min_rnr_timer = kRnrDelay;
  attr.ah_attr = device.way_to(theirs.lid, theirs.gid);
  int error = device.api.modify_qp(pair_, &attr,
                                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return error;
  attr = {};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = kTimeout;
  attr.retry_cnt = kRetries;
  attr.rnr_retry = kForever;
  attr.sq_psn = first_packet_;
  const auto own_reads = static_cast<std::uint32_t>(std::max(device.attributes.max_qp_init_rd_atom, 1));
  attr.max_rd_atomic = static_cast<std::uint8_t>(std::min({own_reads, theirs.most_reads, kMostReads}));
  return device.api.modify_qp(pair_, &attr,
                              IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

void Link::on_ready() noexcept {
  if (over()) return;
  peer_ready_ = true;
  if (ready_) establish();
}

void Link::establish() noexcept {
  if (state_ != State::kConnecting) return;
  state_ = State::kUp;
  if (!queue_.empty()) list_waiting();
}

void Link::on_side_lost(const std::string& why) noexcept {
  if (over()) return;
  lose(why);
}

void Link::on_side_gone() noexcept {
  if (state_ == State::kNone || over()) return;
  become_gone();
}

void Link::fail(const std::string& why) noexcept {
  if (first_ != nullptr) {
    if (state_ == State::kUp && !retiring_) first_->fail(why);
    if (retiring_ && !over()) become_gone();
    return;
  }
  if (over() || !trouble_.empty()) return;
  trouble_ = why;
  report_at_ = nanoseconds_now() + kPatience;
  if (!listed_failing) hub_.failing.push_back(this);
  listed_failing = true;
}

bool Link::report(std::uint64_t now) noexcept {
  if (over()) return true;
  if (now < report_at_) return false;
  lose(trouble_);
  return true;
}

void Link::on_goodbye() noexcept {
  if (!over()) become_gone();
}

void Link::become_gone() noexcept {
  stop();
  state_ = State::kGone;
  drop();
}

void Link::lose(const std::string& why) noexcept {
  stop();
  state_ = State::kLost;
  if (!closing_) hub_.sink->lost(peer_, why);
  drop();
}

// Linux 6.1 empties a queue pair that is reset while another processor deals with a packet for it; what that one then
// takes from the empty queue lowers the counts of users of the queue pair and of the device, in the end to 0, with which
// the device is gone for everybody. In state ERR no packet is taken in any more: who resets it a moment later is alone.
void Link::stop() noexcept {
  for (const auto& sibling : siblings) sibling->stop();
  if (pair_ == nullptr || stopped_at_ != 0 || over() || !hub_.device->software) return;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  hub_.device->api.modify_qp(pair_, &attr, IBV_QP_STATE);
  stopped_at_ = nanoseconds_now();
}

void Link::reset() noexcept {
  if (pair_ == nullptr) return;
  if (stopped_at_ != 0)
    for (std::uint64_t gone = 0; (gone = nanoseconds_now() - stopped_at_) < kStopping;)
      usleep(static_cast<useconds_t>((kStopping - gone) / 1000 + 1));
  ibv_qp_attr attr{};
  // The adapter touches no buffer any more, and forgets what is under way. (In state ERR, software RoCE keeps packets of
  // a peer that has died, and the end of this process waits for them for 50 s.)
  attr.qp_state = IBV_QPS_RESET;
  hub_.device->api.modify_qp(pair_, &attr, IBV_QP_STATE);
}

// The peer is served no longer. What it was to be sent vanishes, and the buffers are free; what was to come from
// there never does.
void Link::drop() noexcept {
  for (const auto& sibling : siblings) {
    if (sibling->over()) continue;
    sibling->state_ = state_;
    sibling->drop();
  }
  reset();
  release_reads();
  for (const Received& received : std::exchange(held_, {})) pool_.receives.give_back(received.buffer);
  std::deque<Waiting> queue = std::exchange(queue_, {});
  copied_ = references_ = 0;
  // Windows that are being closed, too: no completion of a work request counts any more.
  for (; works_head_ != works_tail_; ++works_head_) {
    --hub_.under_way;
    const Work& work = work_at(works_head_);
    if (work.what == Work::What::kFrame && work.buffer != SendPool::kNone) pool_.sends.give_back(work.buffer);
    if (work.what == Work::What::kClose) end_exposure(*work.exposure, true);
  }
  for (Exposure* const exposure : std::exchange(closing_windows_, {})) end_exposure(*exposure, true);
  for (Exposure* const exposure : std::exchange(offers_, {})) end_exposure(*exposure, true);
  for (const Waiting& waiting : queue) {
    if (waiting.exposure != nullptr &&
        (waiting.kind == Waiting::Kind::kMessage || waiting.exposure->state == Exposure::State::kDropped))
      hub_.exposures.end(*waiting.exposure, true);
    if (waiting.completion != nullptr) hub_.finished.push_back(waiting.completion);
  }
}

void Link::begin_close() noexcept {
  closing_ = true;
  if (over() || first_ != nullptr || (state_ != State::kUp && queue_.empty())) return;
  Waiting goodbye;
  goodbye.kind = Waiting::Kind::kGoodbye;
  queue_.push_back(std::move(goodbye));
  list_waiting();
}

bool Link::closed() const noexcept {
  if (over() || state_ == State::kNone || !trouble_.empty()) return true;
  return idle();
}

void Link::end_close() noexcept {
  if (!over()) become_gone();
}

// Those under way will not be completed.
void Link::release_reads() noexcept {
  const auto release = [this](Read& read) {
    if (read.registration != nullptr) hub_.registrations.release(*read.registration);
    if (read.staging != SendPool::kNone) pool_.sends.give_back(read.staging);
    read.registration = nullptr;
    read.staging = SendPool::kNone;
  };
  release(incoming_);
  for (const auto& get : gets_) release(*get);
}

Link::~Link() {
  if (!over()) {
    stop();
    state_ = State::kLost;
    drop();
  }
  if (pair_ != nullptr) {
    hub_.by_pair.remove(pair_->qp_num);
    hub_.device->api.destroy_qp(pair_);
  }
  if (joined_) pool_.leave();
}

}  // namespace tmpi::net::verbs
