#include "mpi/rma/target.hpp"

#include <array>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mpi/base/handles.hpp"
#include "mpi/datatype/stream.hpp"
#include "mpi/op/loops.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rma/combiner.hpp"
#include "mpi/rma/elements.hpp"
#include "mpi/rma/layout_wire.hpp"
#include "mpi/rma/operations.hpp"
#include "mpi/rma/origin.hpp"
#include "mpi/rma/place.hpp"
#include "mpi/rma/reading.hpp"
#include "mpi/rma/sent_types.hpp"

namespace tmpi::mpi::rma {
namespace {

using remote::Core;

// What has begun to arrive from a peer: one message at a time.
struct Arrival {
  static constexpr std::size_t kSmall = 4096;
  Header header;
  std::size_t payload = 0;
  WindowShared* window = nullptr;
  TypeView view;
  Node node;
  Address base = 0;
  std::byte* data = nullptr;  // null: lands where it belongs
  std::unique_ptr<std::byte[]> large;
  alignas(std::max_align_t) std::array<std::byte, kSmall> small;
};

// A put whose data is read from the origin's memory.
struct Taking : Reading {
  Core* core = nullptr;
  int peer = 0;
  Header header;
};

struct State {
  std::vector<std::unique_ptr<Arrival>> arrivals;                            // by peer
  std::vector<std::unordered_map<std::uint64_t, TypeView>> known_types;      // by peer
  std::vector<std::unordered_map<std::uint64_t, net::RemoteKey>> exposures;  // by peer, then by its operation
};
State& state() {
  static auto& all = *new State;
  return all;
}

template <class T>
T& at(std::vector<T>& list, int index) {
  if (list.size() <= static_cast<std::size_t>(index)) list.resize(static_cast<std::size_t>(job()->nodes()));
  return list[static_cast<std::size_t>(index)];
}

Header reply_to(const Header& asked, What what) noexcept {
  Header header;
  header.window = asked.window;
  header.what = what;
  header.from = asked.to;
  header.to = asked.from;
  header.id = asked.id;
  header.offset = asked.offset;
  header.bytes = asked.bytes;
  return header;
}

void answer(Core& core, int peer, const Header& asked) {
  if ((asked.flags & kWantsAnswer) != 0) (void)send_header(core, peer, reply_to(asked, What::kAnswer));
}

// Where the data goes until all of it is here.
net::Landing land(Arrival& arrival) {
  if (arrival.payload <= Arrival::kSmall) {
    arrival.data = arrival.small.data();
  } else {
    arrival.large = std::make_unique<std::byte[]>(arrival.payload);
    arrival.data = arrival.large.get();
  }
  return {arrival.data, arrival.payload, &arrival};
}

constexpr const char* kNonsense = "it has sent a one-sided operation that makes no sense";
constexpr const char* kNoWindow = "it has sent a one-sided operation for a window that does not exist";

// ---- operations on memory ----

// The type that a header names; false if there is none.
bool find_type(int peer, std::uint32_t type, TypeView& view) {
  if ((type & kSentType) == 0) {
    const Datatype* const known = datatype_from(reinterpret_cast<MPI_Datatype>(std::uintptr_t{type}));
    if (known == nullptr || !known->predefined()) return false;
    view = view_of(*known);
    return true;
  }
  auto& types = at(state().known_types, peer);
  const auto found = types.find(type & ~kSentType);
  if (found == types.end()) return false;
  view = found->second;
  return true;
}

bool can_combine(const Header& header, const TypeView& view, std::size_t payload) {
  const auto which = static_cast<Operator>(header.operation);
  if (view.basic == nullptr || view.basic->size() == 0 || header.operation >= kOperators) return false;
  const bool brings = which != Operator::kNoOp;
  if (header.offset % view.basic->size() != 0 || header.bytes % view.basic->size() != 0) return false;
  if (static_cast<MPI_Count>(payload) != (brings ? header.bytes : 0) || header.bytes > remote::kSegment)
    return false;
  return !brings || which == Operator::kReplace ||
         loop_table().loops[header.operation][static_cast<int>(view.basic->kind())] != nullptr;
}

// What the message says of itself fits together.
bool plausible(const Arrival& arrival) {
  const Header& header = arrival.header;
  const auto payload = static_cast<MPI_Count>(arrival.payload);
  MPI_Count size;
  if (header.count < 0 || header.offset < 0 || header.bytes <= 0 ||
      __builtin_mul_overflow(header.count, arrival.view.size, &size))
    return false;
  switch (header.what) {
    case What::kCompareAndSwap:
      return header.count == 1 && arrival.view.basic != nullptr && payload == 2 * arrival.view.size &&
             payload <= 64;
    case What::kPut:
      if (payload != ((header.flags & kExposed) != 0 ? MPI_Count{sizeof(Exposure)} : header.bytes))
        return false;
      break;
    case What::kGet:
      if (payload != 0) return false;
      break;
    default:
      if (!can_combine(header, arrival.view, arrival.payload)) return false;
  }
  return header.offset <= size && header.bytes <= size - header.offset;
}

// `wanted`: bytes that the origin waits for, if it wants any.
void refuse(Core& core, int peer, const Header& header, MPI_Count wanted) {
  const bool offered = header.what == What::kPut && (header.flags & kExposed) != 0;
  Header reply = reply_to(header, (header.flags & kFetch) != 0 ? What::kReply
                                  : offered                    ? What::kTaken
                                                               : What::kRefuse);
  reply.operation = MPI_ERR_RMA_RANGE;
  reply.bytes = wanted;
  reply.flags = kRefused;
  (void)send_header(core, peer, reply);
  answer(core, peer, header);
}

void reply_with(Core& core, int peer, const Header& asked, const void* data, MPI_Count bytes,
                std::unique_ptr<OwnPayload> payload) {
  send_owned(core, peer, reply_to(asked, What::kReply), data, static_cast<std::size_t>(bytes),
             std::move(payload));
}

// For a get that the origin's side reads. If that cannot be, it asks for pieces.
void expose(Core& core, int peer, const Header& header, Address from) {
  auto& exposures = at(state().exposures, peer);
  const void* const memory = reinterpret_cast<const void*>(from);
  if (exposures.contains(header.id)) return core.complain(peer, kNonsense);
  Header reply = reply_to(header, What::kReply);
  reply.flags = kExposed;
  auto key = core.transport->expose(peer, memory, static_cast<std::size_t>(header.bytes));
  if (!key) {
    reply.flags |= kRefused;
    (void)send_header(core, peer, reply);
    return;
  }
  exposures.emplace(header.id, *key);
  const Exposure exposure = exposure_of(*key, memory);
  (void)send_header(core, peer, reply, {&exposure, sizeof exposure});
}

void conceal(Core& core, int peer, const Header& header) {
  auto& exposures = at(state().exposures, peer);
  const auto found = exposures.find(header.id);
  if (found == exposures.end()) return core.complain(peer, kNonsense);
  core.transport->conceal(found->second);
  exposures.erase(found);
  answer(core, peer, header);
}

void has_taken(Reading& reading) noexcept {
  const std::unique_ptr<Taking> taking(&static_cast<Taking&>(reading));
  remote::detail::g_expected.fetch_sub(1, std::memory_order_relaxed);
  (void)send_header(*taking->core, taking->peer, reply_to(taking->header, What::kTaken));
}

void take(Core& core, int peer, const Arrival& arrival) {
  auto taking = std::make_unique<Taking>();
  taking->core = &core;
  taking->peer = peer;
  taking->header = arrival.header;
  auto* const to = reinterpret_cast<std::byte*>(moved(arrival.base, arrival.node.offset));
  Exposure from;
  std::memcpy(&from, arrival.data, sizeof from);
  remote::detail::g_expected.fetch_add(1, std::memory_order_relaxed);
  Taking& begun = *taking.release();  // has_taken()'s
  begun.begin(core, peer, from, to, begun.header.bytes, has_taken);
}

void do_get(Core& core, int peer, const Arrival& arrival) {
  const Header& header = arrival.header;
  auto payload = std::make_unique<OwnPayload>();
  if (arrival.node.form == Node::Form::kRun) {
    const Address from = moved(arrival.base, arrival.node.offset + header.offset);
    if ((header.flags & kExposed) != 0) return expose(core, peer, header, from);
    return reply_with(core, peer, header, reinterpret_cast<const void*>(from), header.bytes,
                      std::move(payload));
  }
  payload->bytes = std::make_unique<std::byte[]>(static_cast<std::size_t>(header.bytes));
  const void* const data = payload->bytes.get();
  move_stream<Direction::kPack>(arrival.node, arrival.base, address_of(data), header.offset,
                                header.offset + header.bytes);
  reply_with(core, peer, header, data, header.bytes, std::move(payload));
}

std::unique_ptr<std::byte[]> room_for(MPI_Count elements, const Datatype& basic) {
  return std::make_unique<std::byte[]>(static_cast<std::size_t>(elements * basic.extent()));
}

void do_combine(Core& core, int peer, const Arrival& arrival) {
  const Header& header = arrival.header;
  const Datatype& basic = *arrival.view.basic;
  const MPI_Count elements = header.bytes / basic.size();
  // Elements with holes between them come without these.
  const std::byte* in = arrival.payload > 0 ? arrival.data : nullptr;
  std::unique_ptr<std::byte[]> spread;
  if (in != nullptr && !basic.contiguous()) {
    spread = room_for(elements, basic);
    unpack_segment(spread.get(), elements, basic, in, 0, header.bytes);
    in = spread.get();
  }
  std::unique_ptr<OwnPayload> payload;
  alignas(std::max_align_t) std::byte one[64];
  std::byte* out = nullptr;
  if ((header.flags & kFetch) != 0) {
    payload = std::make_unique<OwnPayload>();
    if (elements > 1 || basic.extent() > static_cast<MPI_Count>(sizeof one))
      payload->bytes = room_for(elements, basic);
    out = payload->bytes != nullptr ? payload->bytes.get() : one;
  }
  const Combiner combiner(static_cast<Operator>(header.operation), basic, false);
  {
    std::unique_lock rows(arrival.window->member(header.to)->rows, std::defer_lock);
    if (elements > 1) rows.lock();
    combine_layout(combiner, arrival.node, arrival.base, header.offset / basic.size(), in, out, elements);
  }
  if (out == nullptr) return;
  if (!basic.contiguous()) {
    auto packed = std::make_unique<std::byte[]>(static_cast<std::size_t>(header.bytes));
    pack_segment(packed.get(), out, elements, basic, 0, header.bytes);
    payload->bytes = std::move(packed);
    out = payload->bytes.get();
  }
  reply_with(core, peer, header, out, header.bytes, std::move(payload));
}

void do_compare_and_swap(Core& core, int peer, const Arrival& arrival) {
  alignas(std::max_align_t) std::byte result[64];
  const MPI_Count size = arrival.view.size;
  Combiner::compare_and_swap(arrival.base, arrival.data, arrival.data + size, result, *arrival.view.basic,
                             false);
  Header header = reply_to(arrival.header, What::kReply);
  header.bytes = size;
  (void)send_header(core, peer, header, {result, static_cast<std::size_t>(size)});
}

net::Landing operation_arriving(Core& core, int peer, Arrival& arrival) {
  const Header& header = arrival.header;
  if (!find_type(peer, header.type, arrival.view) || !plausible(arrival)) {
    core.complain(peer, kNonsense);
    return {};
  }
  const TypeView& view = arrival.view;
  const Span span = span_of(header.count, view.extent, view.true_lb, view.true_extent);
  if (!inside(*arrival.window, header.to, header.displacement, span)) {
    // A compare-and-swap brings two elements and wants one.
    refuse(core, peer, header, header.what == What::kCompareAndSwap ? view.size : header.bytes);
    return {};
  }
  arrival.base = address_at(*arrival.window, header.to, header.displacement);
  arrival.node = view.node(header.count);
  const bool exposed = (header.flags & kExposed) != 0;
  if (exposed && (header.offset != 0 || arrival.node.form != Node::Form::kRun)) {
    core.complain(peer, kNonsense);
    return {};
  }
  if (header.what == What::kGet) {
    do_get(core, peer, arrival);
    return {};
  }
  if (arrival.payload == 0) {  // nothing is brought: what is there is wanted
    do_combine(core, peer, arrival);
    return {};
  }
  if (header.what == What::kPut && !exposed && arrival.node.form == Node::Form::kRun) {
    arrival.data = nullptr;
    const Address to = moved(arrival.base, arrival.node.offset + header.offset);
    return {reinterpret_cast<void*>(to), arrival.payload, &arrival};
  }
  return land(arrival);
}

// ---- the rest ----

void lock_wanted(Core& core, int peer, const Header& header, WindowShared& window, Member& member) {
  auto applicant = std::make_unique<TargetLock::Applicant>();
  applicant->rank = header.from;
  applicant->exclusive = header.operation != 0;
  applicant->peer = peer;
  TargetLock::Applicant& waits = *applicant.release();  // the lock's, or grant()'s
  if (member.lock.acquire(waits)) grant(core, window, header.to, waits);
}

void unlocked(Core& core, int peer, const Header& header, WindowShared& window, Member& member) {
  TargetLock::Applicant* granted = member.lock.release(header.operation != 0);
  while (granted != nullptr) {
    TargetLock::Applicant& next = *std::exchange(granted, granted->behind);
    if (next.waiter != nullptr) {
      core.resumed.push(next);
    } else {
      grant(core, window, header.to, next);
    }
  }
  answer(core, peer, header);
}

void told(Core& core, Tally& tally, const Header& header, const WindowShared& window) {
  if (WaitEntry* const last = tally.tell(header.from, window.size())) core.resumed.push(*last);
}

// True: it was one of those.
bool control_arrived(Core& core, int peer, const Header& header, WindowShared& window) {
  if (header.what == What::kFinish) {
    answer(core, peer, header);
    return true;
  }
  Member* const member = header.to >= 0 && header.to < window.size() ? window.member(header.to) : nullptr;
  if (member == nullptr || header.from < 0 || header.from >= window.size()) {
    core.complain(peer, kNonsense);
    return true;
  }
  switch (header.what) {
    case What::kLock:
      lock_wanted(core, peer, header, window, *member);
      return true;
    case What::kUnlock:
      unlocked(core, peer, header, window, *member);
      return true;
    case What::kPosted:
      told(core, member->posts, header, window);
      return true;
    case What::kCompleted:
      told(core, member->completes, header, window);
      return true;
    default:
      return false;
  }
}

net::Landing answer_arriving(Core& core, int peer, Arrival& arrival) {
  bool complains = false;
  net::Landing landing;
  if (arrival.header.what == What::kReply) {
    landing = reply_arriving(arrival.header, peer, arrival.payload, complains);
    landing.token = &arrival;
    if (!complains && arrival.payload == 0) {
      reply_landed(core, arrival.header, 0);
      return {};
    }
  } else if (arrival.header.what == What::kTaken) {
    complains = !taken_arrived(arrival.header, peer);
  } else {
    complains = !notice_arrived(core, arrival.header, peer);
  }
  if (!complains) return landing;
  core.complain(peer, kNonsense);
  return {};
}

}  // namespace

net::Landing arriving(Core& core, int peer, std::span<const std::byte> header, std::size_t payload) {
  auto& slot = at(state().arrivals, peer);
  if (slot == nullptr) slot = std::make_unique<Arrival>();
  Arrival& arrival = *slot;
  if (header.size() != sizeof arrival.header) {
    core.complain(peer, kNonsense);
    return {};
  }
  std::memcpy(&arrival.header, header.data(), sizeof arrival.header);
  arrival.payload = payload;
  switch (arrival.header.what) {
    case What::kReply:
    case What::kAnswer:
    case What::kGranted:
    case What::kRefuse:
    case What::kTaken:
      return answer_arriving(core, peer, arrival);
    case What::kType:
      return land(arrival);
    case What::kForget:
      at(state().known_types, peer).clear();
      return {};
    case What::kConceal:
      conceal(core, peer, arrival.header);
      return {};
    default:
      break;
  }
  arrival.window = find_window(arrival.header.window);
  if (arrival.window == nullptr) {
    core.complain(peer, kNoWindow);
    return {};
  }
  if (control_arrived(core, peer, arrival.header, *arrival.window)) return {};
  return operation_arriving(core, peer, arrival);
}

void landed(Core& core, int peer, void* token) {
  Arrival& arrival = *static_cast<Arrival*>(token);
  switch (arrival.header.what) {
    case What::kReply:
      return reply_landed(core, arrival.header, arrival.payload);
    case What::kType: {
      Unpacker unpacker({arrival.data, arrival.payload});
      at(state().known_types, peer)[arrival.header.id] = unpack_type(unpacker);
      break;
    }
    case What::kPut:
      if ((arrival.header.flags & kExposed) != 0) {
        take(core, peer, arrival);
      } else if (arrival.data != nullptr) {
        move_stream<Direction::kUnpack>(arrival.node, arrival.base, address_of(arrival.data),
                                        arrival.header.offset, arrival.header.offset + arrival.header.bytes);
      }
      break;
    case What::kCombine:
      do_combine(core, peer, arrival);
      break;
    case What::kCompareAndSwap:
      do_compare_and_swap(core, peer, arrival);
      break;
    default:
      break;
  }
  arrival.large = nullptr;
  answer(core, peer, arrival.header);
}

}  // namespace tmpi::mpi::rma
