#include "mpi/rma/operations.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "mpi/datatype/message.hpp"
#include "mpi/remote/memory.hpp"
#include "mpi/remote/table.hpp"
#include "mpi/rma/origin.hpp"
#include "mpi/rma/reading.hpp"

namespace tmpi::mpi::rma {
namespace {

using remote::Core;
using remote::kSegment;

constexpr std::size_t kPieces = 2;     // of data posted at a time
constexpr MPI_Count kWantedAhead = 4;  // pieces that have been asked for

struct Operation {
  struct Piece : net::Completion {
    Operation* owner = nullptr;
    std::unique_ptr<std::byte[]> packed;
    bool busy = false;
  };

  std::uint64_t id = 0;
  Core* core = nullptr;
  Window* window = nullptr;
  Request* request = nullptr;
  int node = 0;
  Header header;
  Data origin, result;
  const std::byte* run = nullptr;  // the origin's data, if it lies in one piece
  std::byte* result_run = nullptr;
  std::unique_ptr<std::byte[]> landing;  // a piece of the result that is to be unpacked
  MPI_Count bytes = 0, piece = 0;
  MPI_Count posted = 0;
  MPI_Count wanted = 0, arrived = 0;
  std::array<Piece, kPieces> pieces;
  // What is read, by whom it is wanted.
  struct Read : Reading {
    Operation* owner = nullptr;
  };
  bool exposed = false;  // as `key`, to the target
  net::RemoteKey key;
  Exposure target_exposes;
  bool reading = false;
  Read read;

  bool idle() const noexcept {
    return std::none_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.busy; });
  }
  void reset() noexcept {
    request = nullptr;
    landing = nullptr;
    origin = result = Data{};
    posted = wanted = arrived = 0;
    exposed = reading = false;
    for (Piece& p : pieces) p.packed = nullptr;
  }
};

struct State {
  remote::Table<Operation> operations;
  SentTypes types;
};
State& state() {
  static auto& all = *new State;
  return all;
}

RemoteState::Peer& peer_of(const Operation& op) noexcept {
  return op.window->remote->at(op.node);
}

void retain(const Data& data) noexcept {
  if (data.type != nullptr) data.type->retain();
}
void release(const Data& data) noexcept {
  if (data.type != nullptr) data.type->release();
}

const std::byte* one_run(const Data& data) noexcept {
  if (data.type->contiguous()) return static_cast<const std::byte*>(data.address);
  return static_cast<const std::byte*>(single_run(data.address, data.count, *data.type));
}

void finish(Operation& op) {
  RemoteState& remote = *op.window->remote;
  --peer_of(op).transfers;
  state().types.let_go();
  release(op.origin);
  release(op.result);
  remote::detail::g_expected.fetch_sub(1, std::memory_order_relaxed);
  Core& core = *op.core;
  if (op.request != nullptr) core.finished.add(*op.request);
  state().operations.give_back(op);
  core.resumed.take(remote.waiting);
}

void pump(Operation& op);

// To be answered, since the target may free its memory when it knows that operations are done.
void send_conceal(Operation& op) {
  Header header = op.header;
  header.what = What::kConceal;
  header.flags = 0;
  ask_for_answer(peer_of(op), header);
  (void)send_header(*op.core, op.node, header);
}

// A large get, where the transport reads by itself: asks the target to expose its memory.
void ask_to_expose(Operation& op) {
  op.header.flags |= kExposed;
  op.header.bytes = op.posted = op.bytes;
  (void)send_header(*op.core, op.node, op.header);
}

void has_read(Reading& reading) noexcept {
  Operation& op = *static_cast<Operation::Read&>(reading).owner;
  send_conceal(op);
  op.reading = false;
  op.arrived = op.wanted;
  pump(op);
}

// A large put likewise: exposes the origin's memory. False: that cannot be.
bool offer(Operation& op) {
  auto key = op.core->transport->expose(op.node, op.run, static_cast<std::size_t>(op.bytes));
  if (!key) return false;
  op.exposed = true;
  op.key = *key;
  op.header.flags |= kExposed;
  op.header.bytes = op.posted = op.bytes;
  const Exposure exposure = exposure_of(*key, op.run);
  (void)send_header(*op.core, op.node, op.header, {&exposure, sizeof exposure});
  return true;
}

// What is scattered on either side goes by pieces, which bound the memory that it takes there.
bool to_be_read(const Operation& op, const Spot& target) noexcept {
  return op.core->settings.rendezvous == remote::Rendezvous::kRead &&
         op.bytes > op.core->limits.of(op.node) &&
         message_node(target.count, *target.type).form == Node::Form::kRun;
}

void piece_sent(net::Completion& completion) noexcept {
  auto& piece = static_cast<Operation::Piece&>(completion);
  piece.busy = false;
  piece.owner->core->count_left(piece.owner->node);
  pump(*piece.owner);
}

bool brings(const Operation& op) noexcept {
  return op.origin.type != nullptr;
}

// The data of the next piece, in `piece` if it has to be gathered.
remote::Bytes gather(Operation& op, Operation::Piece& piece, MPI_Count bytes) {
  if (op.run != nullptr) return {op.run + op.posted, static_cast<std::size_t>(bytes)};
  if (piece.packed == nullptr) piece.packed = remote::take_memory(op.piece);
  pack_segment(piece.packed.get(), op.origin.address, op.origin.count, *op.origin.type, op.posted, bytes);
  return {piece.packed.get(), static_cast<std::size_t>(bytes)};
}

void post_piece(Operation& op, Operation::Piece& piece, MPI_Count bytes) {
  Header header = op.header;
  header.offset = op.posted;
  header.bytes = bytes;
  const bool last = op.posted + bytes == op.bytes;
  if (op.wanted == 0) {
    if (last) {
      ask_for_answer(peer_of(op), header);
    } else {
      peer_of(op).unanswered = true;
    }
  }
  const remote::Bytes payload = brings(op) ? gather(op, piece, bytes) : remote::Bytes{};
  op.posted += bytes;
  if (last && op.header.what == What::kCombine) --peer_of(op).sending;
  if (payload.size <= op.core->transport->limits().most_buffered) {
    (void)send_header(*op.core, op.node, header, payload);
    return;
  }
  piece.owner = &op;
  piece.done = piece_sent;
  piece.busy = !send_header(*op.core, op.node, header, payload, &piece);
  if (piece.busy) op.core->count_leaving(op.node);
}

// Sends on, asks on; finishes the operation when nothing is left.
void pump(Operation& op) {
  while (op.posted < op.bytes) {
    if (op.wanted > 0 && op.posted - op.arrived >= kWantedAhead * op.piece) break;
    const auto piece =
        std::find_if(op.pieces.begin(), op.pieces.end(), [](const auto& p) { return !p.busy; });
    if (piece == op.pieces.end()) break;
    post_piece(op, *piece, std::min(op.piece, op.bytes - op.posted));
  }
  if (op.posted == op.bytes && op.arrived == op.wanted && op.idle()) finish(op);
}

// A small message that wants nothing back: its data may be used again at once.
void send_now(Core& core, const Plan& plan, Header header) {
  ask_for_answer(plan.window.remote->at(plan.node), header);
  header.bytes = plan.bytes;
  const auto size = static_cast<std::size_t>(plan.bytes);
  if (const std::byte* const run = one_run(plan.origin)) {
    (void)send_header(core, plan.node, header, {run, size});
    return;
  }
  static std::vector<std::byte> packed;
  packed.resize(core.transport->limits().most_buffered);
  pack_segment(packed.data(), plan.origin.address, plan.origin.count, *plan.origin.type, 0, plan.bytes);
  (void)send_header(core, plan.node, header, {packed.data(), size});
}

MPI_Count piece_size(const Core& core, const Plan& plan, const Operation& op, const Spot& target) {
  // What one of both sides has to gather, or is not to lie there as it comes, is copied by pieces.
  const bool straight = plan.header.what != What::kCombine && target.type->contiguous() &&
                        (op.run != nullptr || op.result_run != nullptr);
  const MPI_Count most = straight ? core.piece(plan.bytes, false) : std::min(plan.bytes, kSegment);
  return std::max(plan.grain, most / plan.grain * plan.grain);
}

}  // namespace

void ask_for_answer(RemoteState::Peer& peer, Header& header) noexcept {
  if (peer.answers > 0) {
    peer.unanswered = true;
    return;
  }
  header.flags |= kWantsAnswer;
  ++peer.answers;
  peer.unanswered = false;
}

void begin(Core& core, const Plan& plan, const Spot& target) {
  if (plan.bytes == 0) {
    if (plan.request != nullptr) core.finished.add(*plan.request);
    return;
  }
  Header header = plan.header;
  header.count = target.count;
  header.type = state().types.number_for(core, plan.node, *target.type);
  const bool wants = plan.result.type != nullptr;
  if (!wants && static_cast<std::size_t>(plan.bytes) <= core.transport->limits().most_buffered) {
    send_now(core, plan, header);
    if (plan.request != nullptr) core.finished.add(*plan.request);
    return;
  }
  if (wants) header.flags |= kFetch;
  Operation& op = state().operations.take();
  header.id = op.id;
  op.core = &core;
  op.window = &plan.window;
  op.request = plan.request;
  op.node = plan.node;
  op.header = header;
  op.origin = plan.origin;
  op.result = plan.result;
  retain(op.origin);
  retain(op.result);
  op.run = brings(op) ? one_run(op.origin) : nullptr;
  op.result_run = wants ? const_cast<std::byte*>(one_run(op.result)) : nullptr;
  op.bytes = plan.bytes;
  op.wanted = !wants ? 0 : header.what == What::kCompareAndSwap ? target.type->size() : plan.bytes;
  op.piece = piece_size(core, plan, op, target);
  ++peer_of(op).transfers;
  if (header.what == What::kCombine) ++peer_of(op).sending;
  state().types.hold();
  remote::detail::g_expected.fetch_add(1, std::memory_order_relaxed);
  if (to_be_read(op, target)) {
    if (header.what == What::kGet && op.result_run != nullptr) return ask_to_expose(op);
    if (header.what == What::kPut && op.run != nullptr && offer(op)) return;
  }
  pump(op);
}

void grant(Core& core, const WindowShared& window, int rank, TargetLock::Applicant& applicant) {
  Header header;
  header.what = What::kGranted;
  header.window = window.context;
  header.from = rank;
  header.to = applicant.rank;
  (void)send_header(core, applicant.peer, header);
  delete &applicant;
}

// ---- what comes back ----

namespace {

// Who has been asked to expose the memory of a get does so, or says that it cannot, or refuses the get; others get data.
bool as_asked(const Operation& op, const Header& header) noexcept {
  const bool asked = (op.header.flags & kExposed) != 0;
  if ((header.flags & kExposed) != 0) return asked && header.bytes == op.wanted;
  return !asked || ((header.flags & kRefused) != 0 && header.bytes == op.wanted);
}

}  // namespace

net::Landing reply_arriving(const Header& header, int peer, std::size_t payload, bool& complains) {
  Operation* const op = state().operations.find(header.id);
  const auto bytes = static_cast<MPI_Count>(payload);
  const bool exposes = (header.flags & kExposed) != 0, refused = (header.flags & kRefused) != 0;
  complains = op == nullptr || op->node != peer || op->reading || header.offset < 0 || header.bytes <= 0 ||
              header.offset > op->posted || header.bytes > op->wanted - header.offset ||
              bytes != (refused   ? 0
                        : exposes ? MPI_Count{sizeof(Exposure)}
                                  : header.bytes) ||
              !as_asked(*op, header);
  if (complains || payload == 0) return {};
  if (exposes) return {&op->target_exposes, payload, nullptr};
  if (op->result_run != nullptr) return {op->result_run + header.offset, payload, nullptr};
  if (bytes > kSegment) {
    complains = true;
    return {};
  }
  if (op->landing == nullptr) op->landing = remote::take_memory(std::min(op->wanted, kSegment));
  return {op->landing.get(), payload, nullptr};
}

void reply_landed(Core&, const Header& header, std::size_t payload) {
  Operation& op = *state().operations.find(header.id);
  if ((header.flags & kExposed) != 0) {
    op.header.flags &= static_cast<std::uint16_t>(~kExposed);  // it is not told twice
    if ((header.flags & kRefused) != 0) {
      op.posted = 0;
      return pump(op);
    }
    op.reading = true;
    op.read.owner = &op;
    return op.read.begin(*op.core, op.node, op.target_exposes, op.result_run, op.wanted, has_read);
  }
  if ((header.flags & kRefused) != 0) {
    op.window->remote->error = header.operation;
    if (op.request != nullptr) op.request->error = header.operation;
  } else if (op.result_run == nullptr) {
    unpack_segment(op.result.address, op.result.count, *op.result.type, op.landing.get(), header.offset,
                   static_cast<MPI_Count>(payload));
  }
  op.arrived += header.bytes;
  pump(op);
}

bool taken_arrived(const Header& header, int peer) {
  Operation* const op = state().operations.find(header.id);
  if (op == nullptr || op->node != peer || !op->exposed) return false;
  op->core->transport->conceal(op->key);
  op->exposed = false;
  if ((header.flags & kRefused) != 0) {
    op->window->remote->error = header.operation;
    if (op->request != nullptr) op->request->error = header.operation;
  }
  pump(*op);
  return true;
}

bool notice_arrived(Core& core, const Header& header, int peer) {
  WindowShared* const shared = find_window(header.window);
  if (shared == nullptr || header.to < 0 || header.to >= shared->size()) return false;
  Member* const member = shared->member(header.to);
  // Pairs with the member's own store when it has made its view.
  Window* const window = member != nullptr ? member->window.load(std::memory_order_acquire) : nullptr;
  if (window == nullptr || window->remote == nullptr) return false;
  RemoteState& remote = *window->remote;
  if (header.what == What::kGranted) {
    if (header.from < 0 || header.from >= shared->size()) return false;
    remote.granted.push_back(header.from);
  }
  if (header.what == What::kRefuse) remote.error = header.operation;
  if (header.what == What::kAnswer && --remote.at(peer).answers < 0) return false;
  core.resumed.take(remote.waiting);
  return true;
}

}  // namespace tmpi::mpi::rma
