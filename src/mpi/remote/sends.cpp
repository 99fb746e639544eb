#include "mpi/remote/sends.hpp"

#include <algorithm>
#include <new>

#include "mpi/base/format_into.hpp"
#include "mpi/p2p/observer.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/remote/memory.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi::remote {
namespace {

constexpr std::uint64_t kLongestWait = 86'400'000'000'000;  // ns that a CTS is believed
// The least that credit_limit() says.
constexpr std::uint64_t kCredit = std::uint64_t{2} << 20;

const std::byte* one_run(const Outgoing& data) noexcept {
  if (data.type.contiguous()) return static_cast<const std::byte*>(data.buffer);
  return static_cast<const std::byte*>(single_run(data.buffer, data.count, data.type));
}

// Of remote.hpp's expected(). seq_cst pairs with the progress thread that is about to sleep.
void count_pending(int change) noexcept {
  detail::g_expected.fetch_add(change, std::memory_order_seq_cst);
}

Envelope envelope_of(const MatchKey& key, int dest, const Outgoing& data) noexcept {
  return {key.context,
          key.source,
          key.tag,
          number_at_home(dest),
          data.serial,
          0,
          static_cast<std::uint64_t>(data.bytes)};
}

}  // namespace

std::uint64_t credit_limit(MPI_Count eager_limit) noexcept {
  return std::max(kCredit, 4 * cost_of(eager_limit));
}

inline bool Sends::charge(const Route& route, MPI_Count bytes, MPI_Count eager_limit) {
  return allowance_.charge(route.dest, bytes,
                           of_other_job(route.dest) ? kCreditBetweenJobs : credit_limit(eager_limit));
}

void Sends::Outbound::reset() noexcept {
  request = nullptr;
  waits = 0;
  segmented = exposed = false;
  packed = nullptr;
  receiver = 0;
  wanted = posted = turn = 0;
  order = started = 0;
  asked = answered = 0;
  for (Piece& piece : pieces) piece.packed = nullptr;
}

void Sends::use(int ranks, int nodes) {
  queues_.use(nodes, core_.transfer_depth);
  allowance_.use(ranks);
  const std::size_t buffered = core_.transport->limits().most_buffered;
  now_limit_ = std::min(core_.settings.eager_limit, static_cast<MPI_Count>(buffered));
  scratch_ = std::make_unique<std::byte[]>(buffered);
}

// Whatever its size and mode, a message takes the receive that was announced first.
std::optional<MPI_Count> Sends::take_announcement(const Route& route, const MatchKey& key) {
  if (announcements_.empty()) [[likely]]
    return {};
  return announcements_.take({key.context, route.from, route.dest, key.tag});
}

bool Sends::now(const Route& route, const MatchKey& key, const Outgoing& data, SendMode mode) {
  if (mode == SendMode::kSynchronous || data.bytes > now_limit_ || core_.backlog.congested(route.peer) ||
      !charge(route, data.bytes, core_.limits.of(route.peer)))
    return false;
  Envelope envelope = envelope_of(key, route.dest, data);
  if (take_announcement(route, key)) envelope.flags |= kAnnounced;
  const void* packed = data.buffer;
  if (!data.type.contiguous()) {
    pack(scratch_.get(), data);
    packed = scratch_.get();
  }
  core_.backlog.post(route.peer, Kind::kEager, envelope, {packed, static_cast<std::size_t>(data.bytes)});
  ++core_.counters.eager;
  core_.counters.eager_bytes += envelope.bytes;
  tell_left(route.from, Departure::kEager, data.bytes);
  return true;
}

// Makes the whole data one run of memory. False if there is no memory for a copy.
bool Sends::gather(Outbound& out, const Outgoing& data) {
  if (out.run != nullptr || data.bytes == 0) return true;
  out.packed.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(data.bytes)]);
  if (out.packed == nullptr) return false;
  pack(out.packed.get(), data);
  out.run = out.packed.get();
  return true;
}

void Sends::start(Request& request, const Route& route, const MatchKey& key, const Outgoing& data,
                  SendMode mode) {
  Outbound& out = table_.take();
  out.sends = this;
  out.request = &request;
  out.peer = route.peer;
  out.bytes = data.bytes;
  out.run = one_run(data);
  request.transfer = out.id;
  if (core_.transfer_depth > 0) out.started = timers::now_ticks();
  count_pending(1);

  Envelope envelope = envelope_of(key, route.dest, data);
  const std::optional<MPI_Count> announced = take_announcement(route, key);
  if (announced) envelope.flags |= kAnnounced;
  const MPI_Count limit = core_.limits.of(route.peer);
  const bool small = core_.limits.unasked(route.peer, data.bytes);
  const bool early = !small && announced && *announced >= data.bytes && mode != SendMode::kSynchronous;
  if (early && gather(out, data)) {
    envelope.flags |= kUncharged;
    ++core_.counters.early;
    core_.counters.early_bytes += envelope.bytes;
    tell_left(route.from, Departure::kEager, data.bytes);
    post_eager(out, envelope);
  } else if (small && gather(out, data) && charge(route, data.bytes, limit)) {
    if (mode == SendMode::kSynchronous) envelope.flags |= kSynchronous;
    ++core_.counters.eager;
    core_.counters.eager_bytes += envelope.bytes;
    core_.limits.travelled(route.peer, data.bytes);
    tell_left(route.from, Departure::kEager, data.bytes);
    post_eager(out, envelope);
  } else {
    ++core_.counters.rendezvous;
    core_.counters.rendezvous_bytes += envelope.bytes;
    tell_left(route.from, Departure::kRendezvous, data.bytes);
    post_rts(out, envelope);
    core_.limits.asked(route.peer, data.bytes);
  }
}

void Sends::post_eager(Outbound& out, Envelope envelope) {
  out.protocol = Protocol::kEager;
  const bool synchronous = (envelope.flags & kSynchronous) != 0;
  out.waits = kBuffer | (synchronous ? kMatched : 0);
  Piece& piece = out.pieces[0];
  piece.owner = &out;
  piece.done = eager_sent;
  const Bytes payload{out.run, static_cast<std::size_t>(out.bytes)};
  const bool gone =
      synchronous ? core_.backlog.post(out.peer, Kind::kEager, Eager{envelope, {out.id}}, payload, &piece)
                  : core_.backlog.post(out.peer, Kind::kEager, envelope, payload, &piece);
  if (!gone) return core_.count_leaving(out.peer);
  out.waits &= ~kBuffer;
  settle(out);
}

void Sends::eager_sent(net::Completion& completion) noexcept {
  Outbound& out = *static_cast<Piece&>(completion).owner;
  out.sends->core_.count_left(out.peer);
  out.waits &= ~kBuffer;
  out.sends->settle(out);
}

void Sends::post_rts(Outbound& out, const Envelope& envelope) {
  out.protocol = Protocol::kRendezvous;
  out.waits = kMatched;
  if (core_.limits.dynamic()) out.asked = timers::now_ticks();
  Rts rts{envelope, out.id};
  if (core_.settings.rendezvous == Rendezvous::kRead && out.run != nullptr && out.bytes > 0) {
    if (auto key = core_.transport->expose(out.peer, out.run, static_cast<std::size_t>(out.bytes))) {
      out.exposed = true;
      out.key = *key;
      rts.address = reinterpret_cast<std::uintptr_t>(out.run);
      std::copy(std::begin(key->word), std::end(key->word), std::begin(rts.key));
    }
  }
  core_.backlog.post(out.peer, Kind::kRts, rts);
}

Sends::Outbound* Sends::find(int peer, std::uint64_t id, const char* what) {
  Outbound* out = table_.find(id);
  if (out != nullptr && out->peer == peer) return out;
  char why[128];
  core_.complain(peer,
                 format_into(why, "{} for a message that was never sent there, or has been received", what));
  return nullptr;
}

void Sends::on_cts(int peer, const Cts& cts) {
  Outbound* out = find(peer, cts.sender, "it has asked");
  if (out == nullptr) return;
  if (out->protocol != Protocol::kRendezvous || (out->waits & kMatched) == 0 || out->receiver != 0 ||
      cts.bytes > static_cast<std::uint64_t>(out->bytes) || (cts.bytes > 0 && cts.receiver == 0))
    return core_.complain(peer, "it has asked twice for a message, or for more than there is");
  out->receiver = cts.receiver;
  out->wanted = static_cast<MPI_Count>(cts.bytes);
  out->segmented = cts.segmented != 0;
  // Whichever rank has waited longer, that of the send or that of the receive.
  if (out->started != 0) {
    const std::uint64_t now = timers::now_ticks(), waited = std::min(cts.waited, kLongestWait);
    out->order =
        std::min(out->started, now - std::min(now, timers::ticks(1e-9 * static_cast<double>(waited))));
  }
  if (core_.limits.dynamic()) {
    const std::uint64_t now = timers::now_ticks();
    core_.limits.answered(peer, out->bytes, 0, now - out->asked);
    out->answered = now;
  }
  go_on(*out, queue_to(peer));
  serve_soon(peer);
}

// Where pieces are posted one after the other what has come with this is dealt with first. Else all is posted at once.
void Sends::serve_soon(int peer) {
  queues_.serve_soon(peer, [this](Outbound& out, TransferQueue<Outbound>& queue) { post_next(out, queue); });
}

void Sends::serve_all() {
  queues_.serve_all([this](Outbound& out, TransferQueue<Outbound>& queue) { post_next(out, queue); });
}

void Sends::post_next(Outbound& out, TransferQueue<Outbound>& queue) {
  post_piece(out, queue);
  go_on(out, queue);
}

// After a piece has been posted, or has left: gets in the queue again, or settles the send when all has left.
void Sends::go_on(Outbound& out, TransferQueue<Outbound>& queue) {
  const auto busy = [](const Piece& piece) { return piece.busy; };
  if (out.posted < out.wanted) {
    if (!std::ranges::all_of(out.pieces, busy)) queue.join(out);
  } else if (std::ranges::none_of(out.pieces, busy)) {
    if (out.answered != 0) core_.limits.moved(out.peer, out.wanted, timers::now_ticks() - out.answered);
    out.waits &= ~kMatched;
    settle(out);
  }
}

// One of its pieces is free, and there is data left.
void Sends::post_piece(Outbound& out, TransferQueue<Outbound>& queue) {
  const bool segmented = out.segmented || out.run == nullptr;
  const MPI_Count n = queue.piece(core_.piece(out.wanted - out.posted, segmented));
  const Data data{out.receiver, static_cast<std::uint64_t>(out.posted)};
  Piece& piece = *std::ranges::find(out.pieces, false, &Piece::busy);
  const void* source = out.run != nullptr ? out.run + out.posted : nullptr;
  if (source == nullptr) {
    if (piece.packed == nullptr) piece.packed = take_memory(kSegment);
    const Request& request = *out.request;
    pack_segment(piece.packed.get(), request.buffer, request.count, *request.type, out.posted, n);
    source = piece.packed.get();
  }
  out.posted += n;
  queue.posted(out, n);
  piece.owner = &out;
  piece.done = piece_sent;
  piece.bytes = n;
  piece.busy = true;
  if (!core_.backlog.post(out.peer, Kind::kData, data, {source, static_cast<std::size_t>(n)}, &piece))
    return core_.count_leaving(out.peer);
  piece.busy = false;
  queue.done(n);
}

void Sends::piece_sent(net::Completion& completion) noexcept {
  Piece& piece = static_cast<Piece&>(completion);
  Outbound& out = *piece.owner;
  Sends& sends = *out.sends;
  TransferQueue<Outbound>& queue = sends.queue_to(out.peer);
  piece.busy = false;
  queue.done(piece.bytes);
  const int peer = out.peer;
  sends.core_.count_left(peer);
  sends.go_on(out, queue);  // may be gone now
  sends.serve_soon(peer);
}

void Sends::on_fin(int peer, const Transfer& fin) {
  Outbound* out = find(peer, fin.id, "it has said that it is done");
  if (out == nullptr) return;
  if ((out->waits & kMatched) == 0 || out->receiver != 0 ||
      (out->protocol == Protocol::kRendezvous && !out->exposed))
    return core_.complain(peer, "it has said that it is done with a message that it has not received");
  if (out->exposed && out->asked != 0) {
    const std::uint64_t ticks = timers::now_ticks() - out->asked;
    core_.limits.moved(peer, out->bytes, ticks);  // or sooner
    core_.limits.answered(peer, out->bytes, out->bytes, ticks);
  }
  out->waits &= ~kMatched;
  settle(*out);
}

void Sends::on_credit(int peer, const Credit& credit) {
  if (!allowance_.returned(credit.dest, credit.bytes))
    core_.complain(peer, "it has returned more credit than it was owed");
}

// Whatever this node's limit to the peer is by now: the receiver, which will retract it, went by its own.
void Sends::on_announce(const Announce& announce) {
  announcements_.add({announce.context, announce.sender, announce.receiver, announce.tag},
                     static_cast<MPI_Count>(std::min<std::uint64_t>(announce.capacity, INT64_MAX)));
}

void Sends::on_retract(const Announce& announce) {
  (void)announcements_.take({announce.context, announce.sender, announce.receiver, announce.tag});
}

void Sends::cancel(Request& request, int dest, int peer) {
  if (request.cancelling) return;
  Outbound* out = nullptr;
  if (request.done()) {
    if (!request.buffered || request.cancelled) return;
    request.reset();
    out = &table_.take();
    out->sends = this;
    out->request = &request;
    out->peer = peer;
    out->protocol = Protocol::kCancel;
  } else {
    out = table_.find(request.transfer);
    if (out == nullptr || out->request != &request) return;  // it completes this very moment
  }
  request.cancelling = true;
  out->waits |= kReply;
  const Envelope envelope{request.context,
                          request.comm->rank,
                          request.tag,
                          number_at_home(dest),
                          static_cast<std::uint16_t>(request.serial),
                          0,
                          0};
  core_.backlog.post(peer, Kind::kCancel, Cancel{envelope, out->id});
}

void Sends::on_cancel_reply(int peer, const CancelReply& reply) {
  Outbound* out =
      find(peer, reply.id, "it has answered a question that nobody asked, to withdraw a message,");
  if (out == nullptr) return;
  Outbound* message = out;
  if (reply.withdrawn != 0 && reply.sender != 0) {
    // The message's own transfer: of this request, or of the one that a buffered send made for it.
    message = find(peer, reply.sender, "it has withdrawn");
    if (message == nullptr) return;
    if ((message->waits & kMatched) == 0 || message->receiver != 0)
      return core_.complain(peer, "it has withdrawn a message that it has received");
    message->waits &= ~kMatched;
  }
  if ((out->waits & kReply) == 0) return core_.complain(peer, "it has answered a question twice");
  out->waits &= ~kReply;
  out->request->cancelling = false;
  if (reply.withdrawn != 0) {
    out->request->cancelled = true;
    out->request->bytes = 0;
  }
  if (message != out) settle(*message);
  settle(*out);
}

void Sends::settle(Outbound& out) {
  if (out.waits != 0) return;
  if (out.exposed) core_.transport->conceal(out.key);
  Request& request = *out.request;
  if (out.protocol != Protocol::kCancel) count_pending(-1);
  table_.give_back(out);
  core_.finished.add(request);
}

std::size_t Sends::moving() noexcept {
  std::size_t count = 0;
  table_.for_each([&](const Outbound& out) {
    count += (out.waits & kBuffer) != 0 || (out.protocol == Protocol::kRendezvous && out.receiver != 0);
  });
  return count;
}

}  // namespace tmpi::mpi::remote
