#include "mpi/remote/receives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "mpi/p2p/cell.hpp"
#include "mpi/p2p/transfer.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/remote/memory.hpp"
#include "mpi/remote/sends.hpp"
#include "sched/metering.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi::remote {
namespace {

// The receive's buffer, if its data is one run of memory.
std::byte* one_run(const Request& receive) noexcept {
  if (receive.type->contiguous()) return static_cast<std::byte*>(receive.buffer);
  return static_cast<std::byte*>(single_run(receive.buffer, receive.count, *receive.type));
}

// Nothing is to be said to the sender of a message that has left its memory.
bool is_quiet(const Origin& origin, std::uint64_t due) noexcept {
  return due == 0 && (origin.flags & kSynchronous) == 0;
}

Origin origin_of(int peer, const Envelope& envelope, std::uint64_t sender) noexcept {
  return {peer, envelope.dest, envelope.flags, sender, 0, {}, 0};
}

void fill(Message& message, const Envelope& envelope, MessagePlace place) noexcept {
  message.bytes = static_cast<MPI_Count>(envelope.bytes);
  message.serial = envelope.serial;
  message.place = place;
}

// ns; 0 if nobody wants to know.
std::uint64_t waited_since(std::uint64_t then) noexcept {
  return then != 0 ? static_cast<std::uint64_t>(1e9 * timers::seconds(timers::now_ticks() - then)) : 0;
}

constexpr const char* kNoSuchRank = "it has sent a message for a rank that does not live here";

}  // namespace

void Receives::Inbound::reset() noexcept {
  request = nullptr;
  packed = nullptr;
  wanted = begun = arrived = turn = 0;
  address = started = order = 0;
  for (Get& get : gets) get.packed = nullptr;
}

void Receives::use(int own_nodes, int nodes) {
  landing_.resize(static_cast<std::size_t>(nodes));
  queues_.use(nodes, core_.transfer_depth);
  owed_.use({.peers = own_nodes, .batch = credit_limit(core_.settings.eager_limit) / 4},
            {.peers = nodes - own_nodes, .batch = kCreditBetweenJobs / 4}, job()->most_local());
}

inline Rank* Receives::local_rank(int peer, const Envelope& envelope) {
  Rank* const rank = job()->local(envelope.dest);
  if (rank == nullptr)
    core_.complain(peer, kNoSuchRank);
  else if (envelope.bytes > INT64_MAX)
    core_.complain(peer, "it has sent a message of more bytes than there are");
  else
    return rank;
  return nullptr;
}

// ---- eager ----

net::Landing Receives::on_eager(int peer, const Eager& eager, std::size_t payload) {
  Landing& landing = landing_[static_cast<std::size_t>(peer)];
  landing.what = Landing::What::kNothing;
  Rank* const rank = local_rank(peer, eager.envelope);
  if (rank == nullptr) return {};
  if (eager.envelope.bytes != payload) {
    core_.complain(peer, "it has sent a message whose size is not what it says");
    return {};
  }
  // What had been announced went whatever the limit is, which is not used by that.
  if ((eager.envelope.flags & kUncharged) == 0) core_.limits.travelled(peer, static_cast<MPI_Count>(payload));
  core_.limits.came(peer, static_cast<MPI_Count>(payload));
  owed_.prepare(peer);
  landing.envelope = eager.envelope;
  landing.sender = eager.sender.id;
  // If no receive takes it the data comes first: it arrives again when that is here.
  const MatchResult arrival =
      rank->matcher.arrive(eager.envelope.key(), []() noexcept -> Message* { return nullptr; });
  return arrival.receive != nullptr ? land_posted(landing, *arrival.receive) : land_unexpected(peer, landing);
}

inline net::Landing Receives::land_posted(Landing& landing, Request& receive) {
  const auto bytes = static_cast<MPI_Count>(landing.envelope.bytes);
  landing.what = Landing::What::kPosted;
  landing.receive = &receive;
  landing.cell = nullptr;
  if (bytes == 0) return {};
  const MPI_Count room = receive.count * receive.type->size();
  if (room == 0) return {};
  if (std::byte* const run = one_run(receive))
    return {run, static_cast<std::size_t>(std::min(bytes, room)), nullptr};
  landing.cell = take_cell(bytes);
  if (landing.cell == nullptr) out_of_memory();
  return {cell_payload(landing.cell), static_cast<std::size_t>(bytes), nullptr};
}

net::Landing Receives::land_unexpected(int peer, Landing& landing) {
  const auto bytes = static_cast<MPI_Count>(landing.envelope.bytes);
  landing.what = Landing::What::kUnexpected;
  landing.cell = take_arrival(bytes);
  if (landing.cell == nullptr) out_of_memory();
  origin_of(*landing.cell) = origin_of(peer, landing.envelope, landing.sender);
  return {cell_payload(landing.cell), static_cast<std::size_t>(bytes), nullptr};
}

void Receives::landed(int peer) {
  Landing& landing = landing_[static_cast<std::size_t>(peer)];
  switch (std::exchange(landing.what, Landing::What::kNothing)) {
    case Landing::What::kNothing:
      break;
    case Landing::What::kPosted:
      posted_landed(peer, landing);
      break;
    case Landing::What::kUnexpected:
      unexpected_landed(peer, landing);
      break;
    case Landing::What::kPiece:
      piece_landed(peer, landing);
      break;
  }
}

inline void Receives::posted_landed(int peer, Landing& landing) {
  Request& receive = *landing.receive;
  const auto bytes = static_cast<MPI_Count>(landing.envelope.bytes);
  if (landing.cell != nullptr) {
    receive_packed(receive, landing.envelope.key(), landing.cell->payload, bytes);
    give_back_cell(landing.cell);
  } else {
    (void)note_outcome(receive, landing.envelope.key(), bytes);
  }
  matched(peer, landing.envelope, receive);
  release(origin_of(peer, landing.envelope, landing.sender), bytes);
  core_.finished.add(receive);
}

// The receive may have been posted while the data came in.
void Receives::unexpected_landed(int peer, Landing& landing) {
  Matcher& matcher = job()->local(landing.envelope.dest)->matcher;
  Message& message = *landing.cell;
  const MatchResult arrival = matcher.arrive(landing.envelope.key(), [&]() noexcept {
    fill(message, landing.envelope, MessagePlace::kEagerFromElsewhere);
    return &message;
  });
  if (arrival.receive == nullptr) return;
  Request& receive = *arrival.receive;
  const auto bytes = static_cast<MPI_Count>(landing.envelope.bytes);
  receive_packed(receive, landing.envelope.key(), message.payload, bytes);
  const Origin origin = origin_of(message);
  give_back_arrival(message);
  matched(peer, landing.envelope, receive);
  release(origin, bytes);
  core_.finished.add(receive);
}

// A receive that was posted has got a message.
inline void Receives::matched(int peer, const Envelope& envelope, const Request& receive) {
  // Of these nobody says when they are looked for.
  if (receive.peer == MPI_ANY_SOURCE) core_.limits.blocked_for(peer, static_cast<MPI_Count>(envelope.bytes));
  if (!receive.announced || (envelope.flags & kAnnounced) != 0) return;
  // The sender knew nothing of the announcement when it sent: it must not take the next message for this one.
  const int sender = receive.comm->shared->peers->world_rank(envelope.source);
  core_.backlog.post(peer, Kind::kRetract,
                     Announce{envelope.context, number_at_home(sender), envelope.dest, envelope.tag, 0, 0});
}

inline std::uint64_t Receives::owe(const Origin& origin, MPI_Count bytes) noexcept {
  if ((origin.flags & kUncharged) != 0) return 0;
  return owed_.add(origin.peer, job()->local(origin.dest)->local_index, cost_of(bytes));
}

bool Receives::release_quietly(const Origin& origin, MPI_Count bytes, std::uint64_t& due) noexcept {
  due = owe(origin, bytes);
  return is_quiet(origin, due);
}

void Receives::acknowledge(const Origin& origin, std::uint64_t due) {
  if (due > 0) core_.backlog.post(origin.peer, Kind::kCredit, Credit{due, origin.dest, 0});
  if ((origin.flags & kSynchronous) != 0)
    core_.backlog.post(origin.peer, Kind::kFin, Transfer{origin.sender});
}

inline void Receives::release(const Origin& origin, MPI_Count bytes) {
  const std::uint64_t due = owe(origin, bytes);
  if (!is_quiet(origin, due)) acknowledge(origin, due);
}

// ---- rendezvous ----

void Receives::on_rts(int peer, const Rts& rts) {
  Rank* const rank = local_rank(peer, rts.envelope);
  if (rank == nullptr) return;
  if (rts.address != 0 && !core_.transport->limits().can_get)
    return core_.complain(peer, "it has offered memory to be read, which this transport cannot do");
  Origin origin = origin_of(peer, rts.envelope, rts.sender);
  origin.address = rts.address;
  std::copy(std::begin(rts.key), std::end(rts.key), std::begin(origin.key.word));
  const auto bytes = static_cast<MPI_Count>(rts.envelope.bytes);
  core_.limits.asked(peer, bytes);
  core_.limits.came(peer, bytes);
  if (core_.transfer_depth > 0) origin.came = timers::now_ticks();
  const MatchResult arrival = rank->matcher.arrive(rts.envelope.key(), [&]() noexcept {
    Message* const message = take_arrival(0);
    if (message == nullptr) out_of_memory();
    origin_of(*message) = origin;
    fill(*message, rts.envelope, MessagePlace::kElsewhere);
    message->payload = nullptr;
    return message;
  });
  if (arrival.receive == nullptr) return;
  Request& receive = *arrival.receive;
  matched(peer, rts.envelope, receive);
  fetch(receive, rts.envelope.key(), bytes, origin);
}

void Receives::fetch(Request& receive, const MatchKey& key, MPI_Count bytes, const Origin& origin) {
  const MPI_Count wanted = note_outcome(receive, key, bytes);
  if (wanted == 0) {
    if (origin.address != 0)
      core_.backlog.post(origin.peer, Kind::kFin, Transfer{origin.sender});
    else
      core_.backlog.post(origin.peer, Kind::kCts, Cts{origin.sender, 0, 0, 0, 0, 0});
    return core_.finished.add(receive);
  }
  Inbound& in = table_.take();
  in.receives = this;
  in.request = &receive;
  in.peer = origin.peer;
  in.sender = origin.sender;
  if (core_.transfer_depth > 0) in.order = receive.posted_at != 0 ? receive.posted_at : origin.came;
  if (core_.limits.dynamic() || sched::switches_metered()) in.started = timers::now_ticks();
  in.run = one_run(receive);
  in.wanted = wanted;
  // seq_cst pairs with the progress thread that is about to sleep.
  detail::g_expected.fetch_add(1, std::memory_order_seq_cst);
  if (origin.address == 0) {
    core_.backlog.post(in.peer, Kind::kCts,
                       Cts{in.sender, in.id, static_cast<std::uint64_t>(wanted), in.run == nullptr, 0,
                           waited_since(in.order)});
    return;
  }
  in.address = origin.address;
  in.key = origin.key;
  ++core_.counters.reads;
  core_.counters.read_bytes += static_cast<std::uint64_t>(wanted);
  go_on(in, queue_from(in.peer));
  serve_soon(in.peer);
}

// Where pieces are posted one after the other what has come with this is dealt with first. Else all is posted at once.
void Receives::serve_soon(int peer) {
  queues_.serve_soon(peer, [this](Inbound& in, TransferQueue<Inbound>& queue) { post_next(in, queue); });
}

void Receives::serve_all() {
  queues_.serve_all([this](Inbound& in, TransferQueue<Inbound>& queue) { post_next(in, queue); });
}

net::Landing Receives::on_data(int peer, const Data& data, std::size_t payload) {
  Landing& landing = landing_[static_cast<std::size_t>(peer)];
  landing.what = Landing::What::kNothing;
  Inbound* const in = table_.find(data.receiver);
  const auto bytes = static_cast<MPI_Count>(payload);
  if (in == nullptr || in->peer != peer || in->address != 0 || bytes == 0 ||
      data.offset != static_cast<std::uint64_t>(in->arrived) || bytes > in->wanted - in->arrived ||
      (in->run == nullptr && bytes > kSegment)) {
    core_.complain(peer, "it has sent data that nobody has asked for");
    return {};
  }
  landing.what = Landing::What::kPiece;
  landing.inbound = in->id;
  landing.bytes = bytes;
  if (in->run != nullptr) return {in->run + in->arrived, payload, nullptr};
  if (in->packed == nullptr) in->packed = take_memory(kSegment);
  return {in->packed.get(), payload, nullptr};
}

void Receives::piece_landed(int, Landing& landing) {
  Inbound& in = *table_.find(landing.inbound);
  if (in.run == nullptr) {
    const Request& receive = *in.request;
    unpack_segment(receive.buffer, receive.count, *receive.type, in.packed.get(), in.arrived, landing.bytes);
  }
  in.arrived += landing.bytes;
  if (in.arrived == in.wanted) finish(in);
}

void Receives::post_next(Inbound& in, TransferQueue<Inbound>& queue) {
  post_get(in, queue);
  go_on(in, queue);
}

// After a read has been begun, or has been done: gets in the queue again, or finishes the receive when all is there.
void Receives::go_on(Inbound& in, TransferQueue<Inbound>& queue) {
  if (in.begun < in.wanted) {
    if (!std::ranges::all_of(in.gets, &Get::busy)) queue.join(in);
  } else if (in.arrived == in.wanted) {
    core_.backlog.post(in.peer, Kind::kFin, Transfer{in.sender});
    finish(in);
  }
}

// One of its reads is free, and there is data left.
void Receives::post_get(Inbound& in, TransferQueue<Inbound>& queue) {
  Get& get = *std::ranges::find(in.gets, false, &Get::busy);
  get.owner = &in;
  get.done = got;
  get.offset = in.begun;
  get.bytes = core_.piece(in.wanted - in.begun, in.run == nullptr);
  if (in.run == nullptr && get.packed == nullptr) get.packed = take_memory(kSegment);
  in.begun += get.bytes;
  get.busy = true;
  queue.posted(in, get.bytes);
  const Backlog::Read read{in.key, in.address + static_cast<std::uint64_t>(get.offset),
                           in.run != nullptr ? in.run + get.offset : get.packed.get(),
                           static_cast<std::size_t>(get.bytes)};
  if (core_.backlog.get(in.peer, read, get)) take_in(in, get);
}

void Receives::take_in(Inbound& in, Get& get) {
  core_.count_landed();
  get.busy = false;
  queue_from(in.peer).done(get.bytes);
  in.arrived += get.bytes;
  if (in.run != nullptr) return;
  const Request& receive = *in.request;
  unpack_segment(receive.buffer, receive.count, *receive.type, get.packed.get(), get.offset, get.bytes);
}

void Receives::got(net::Completion& completion) noexcept {
  Get& get = static_cast<Get&>(completion);
  Inbound& in = *get.owner;
  Receives& receives = *in.receives;
  const int peer = in.peer;
  receives.take_in(in, get);
  receives.go_on(in, receives.queue_from(peer));  // may be gone now
  receives.serve_soon(peer);
}

void Receives::finish(Inbound& in) {
  if (in.started != 0) {
    const std::uint64_t ticks = timers::now_ticks() - in.started;
    if (core_.limits.dynamic()) core_.limits.moved(in.peer, in.wanted, ticks);
    core_.note_transfer(in.wanted, ticks);
  }
  Request& receive = *in.request;
  table_.give_back(in);
  detail::g_expected.fetch_sub(1, std::memory_order_relaxed);
  core_.finished.add(receive);
}

// ---- withdrawing ----

void Receives::on_cancel(int peer, const Cancel& cancel) {
  Rank* const rank = local_rank(peer, cancel.envelope);
  if (rank == nullptr) return;
  Message* message = nullptr;
  {
    const MatcherLock lock(rank->matcher);
    message = rank->matcher.find_youngest(cancel.envelope.key(), cancel.envelope.serial);
    if (message != nullptr && (message->place == MessagePlace::kHere || origin_of(*message).peer != peer))
      message = nullptr;
    if (message != nullptr) rank->matcher.remove(*message);
  }
  CancelReply reply{cancel.id, 0, message != nullptr, 0};
  if (message != nullptr) {
    Origin origin = origin_of(*message);
    reply.sender = origin.sender;
    origin.flags &= static_cast<std::uint16_t>(~kSynchronous);  // the reply says enough
    if (message->place == MessagePlace::kEagerFromElsewhere) release(origin, message->bytes);
    give_back_arrival(*message);
  }
  core_.backlog.post(peer, Kind::kCancelReply, reply);
}

}  // namespace tmpi::mpi::remote
