#include "mpi/save/under_way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "mpi/base/handle_memory.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/cell.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/transfer.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/rma/window.hpp"
#include "mpi/save/objects.hpp"

namespace tmpi::mpi {
namespace {

/// Who has gone on already may have begun what all do together next.
bool of_program(const Message& message) noexcept {
  return (message.key.context & kCollective) == 0;
}

bool is_here(const Message& message) noexcept {
  return message.place != MessagePlace::kElsewhere && message.sender == nullptr;
}

bool is_pending(const Request& request) noexcept {
  return request.extension == nullptr && request.active && !request.done();
}

/// Takes the messages of the program out, oldest first, if one of them is to be brought.
std::vector<Message*> take_out(Matcher& matcher) {
  std::vector<Message*> taken;
  const MatcherLock lock(matcher);
  bool all_here = true;
  for (Message* each = matcher.first_unexpected(); each != nullptr; each = each->next) {
    if (!of_program(*each)) continue;
    taken.push_back(each);
    all_here = all_here && is_here(*each);
  }
  if (all_here) return {};
  for (Message* each : taken) matcher.remove(*each);
  return taken;
}

/// Receives the message into the cell. It is gone then.
void receive_into(Rank& rank, void* payload, Message& message) {
  const MatchKey key = message.key;
  Request request;
  sched::Waiter waiter(1);
  request.kind = RequestKind::kRecv;
  request.buffer = payload;
  request.count = message.bytes;
  request.type = datatype_from(MPI_BYTE);
  request.peer = key.source;
  request.tag = key.tag;
  request.comm = &rank.world;
  request.context = key.context;
  request.reset(waiter);
  if (!accept(request, message))
    (void)wait_for(waiter, WaitKind::kReceive, rank.world, key.context, key.source, key.tag);
}

/// The data lies in the buffer of a rank of this process: its request is done then.
void copy_from_sender(void* payload, const Message& message) {
  Request& sender = *message.sender;
  pack_segment(payload, sender.buffer, sender.count, *sender.type, 0, message.bytes);
  sender.complete();
}

/// Null: no memory.
Message* brought(Rank& rank, Message& message) {
  if (is_here(message)) return &message;
  Message* const cell = take_cell(message.bytes);
  if (cell == nullptr) return nullptr;
  cell->key = message.key;
  cell->bytes = message.bytes;
  cell->serial = message.serial;
  if (message.place == MessagePlace::kHere) {
    copy_from_sender(cell_payload(cell), message);
  } else {
    receive_into(rank, cell_payload(cell), message);
  }
  return cell;
}

/// A request, and what has come of it. `done`: only a wait or test is left to do.
struct SavedRequest {
  std::uintptr_t buffer, type, comm;
  std::uint32_t magic;
  RequestKind kind;
  SendMode mode;
  bool persistent, active, cancelled, buffered, done;
  int error, peer, tag, source, received_tag;
  MPI_Count count, bytes;
  ContextId context;
  std::uint64_t serial, posted;  // in the order of posting
};

/// What both have, and means the same in another process.
template <class From, class To>
void copy_plain(const From& from, To& to) noexcept {
  to.magic = from.magic;
  to.kind = from.kind;
  to.mode = from.mode;
  to.persistent = from.persistent;
  to.active = from.active;
  to.cancelled = from.cancelled;
  to.buffered = from.buffered;
  to.error = from.error;
  to.peer = from.peer;
  to.tag = from.tag;
  to.source = from.source;
  to.received_tag = from.received_tag;
  to.count = from.count;
  to.bytes = from.bytes;
  to.context = from.context;
  to.serial = from.serial;
}

SavedRequest saved(const Request& request) noexcept {
  SavedRequest saved{};
  copy_plain(request, saved);
  saved.buffer = reinterpret_cast<std::uintptr_t>(request.buffer);
  if (request.type != nullptr) saved.type = reinterpret_cast<std::uintptr_t>(request.type->handle());
  if (request.comm != nullptr) saved.comm = reinterpret_cast<std::uintptr_t>(request.comm->handle);
  saved.done = !is_pending(request);
  saved.posted = request.posted.sequence;
  return saved;
}

/// Not posted.
void revive(const SavedRequest& saved, Request& request, Rank& rank) {
  copy_plain(saved, request);
  request.buffer = reinterpret_cast<void*>(saved.buffer);
  if (saved.type != 0) {
    request.type = datatype_from(reinterpret_cast<MPI_Datatype>(saved.type));
    request.type->retain();
  }
  if (saved.comm != 0) {
    request.comm = comm_from(rank, reinterpret_cast<MPI_Comm>(saved.comm));
    ++request.comm->references;
  }
  request.reset();
  if (saved.done) request.complete();
  if (saved.magic == Request::kAbandoned) rank.requests.abandon(request);
}

}  // namespace

std::string why_not_brought(Rank& rank) {
  int waiting = 0;
  rank.requests.for_each([&](const Request& request) {
    waiting += is_pending(request) && request.mode == SendMode::kSynchronous ? 1 : 0;
  });
  return waiting == 0 ? "" : "has sent a message by MPI_Issend or the like that has not been received";
}

std::string bring_messages(Rank& rank) {
  bool no_memory = false;
  for (Message* each : take_out(rank.matcher)) {
    Message* const here = no_memory ? nullptr : brought(rank, *each);
    no_memory = here == nullptr;
    Message* const message = no_memory ? each : here;
    // No receive that is posted accepts it, else it would not have been left.
    (void)rank.matcher.arrive(message->key, [&]() noexcept { return message; });
  }
  bool finished = true;
  HandleMemory::of_calling_rank()->for_each([&](HandleKind kind, void* at) {
    if (kind == HandleKind::kWindow && !finish(*static_cast<Window*>(at))) finished = false;
  });
  if (no_memory) return "has no memory for messages that it has not received";
  return finished ? "" : "has not heard yet of an error at a window";
}

void finish_matched(Rank& rank) {
  for (SendBuffer* each = rank.buffer.get(); each != nullptr; each = each->next.get()) each->drain();
  rank.requests.for_each([&](Request& request) {
    if (!is_pending(request)) return;
    bool posted = false;
    {
      const MatcherLock lock(rank.matcher);
      posted = request.kind == RequestKind::kRecv && request.posted.queued;
    }
    if (!posted) wait(request);
  });
}

std::string why_not_requests(const Rank& rank) {
  int extended = 0;
  rank.requests.for_each([&](const Request& request) { extended += request.extension != nullptr ? 1 : 0; });
  if (extended > 0)
    return fmt::format(
        "has {} request{} of nonblocking or persistent collectives, partitioned messages or the like",
        extended, extended == 1 ? "" : "s");
  const HandleMemory& memory = *HandleMemory::of_calling_rank();
  const bool here = std::ranges::all_of(rank.requests.chunks(),
                                        [&](const auto& chunk) { return memory.holds(chunk.data()); });
  return here ? "" : "has made requests in a thread that it has created";
}

int requests_at(const Rank& rank, const Comm& comm) noexcept {
  int count = 0;
  rank.requests.for_each([&](const Request& request) { count += request.comm == &comm ? 1 : 0; });
  return count;
}

void save_messages(Packer& to, Rank& rank) {
  const MatcherLock lock(rank.matcher);
  for (const Message* each = rank.matcher.first_unexpected(); each != nullptr; each = each->next) {
    if (!of_program(*each)) continue;
    to.value(true);
    to.value(each->key);
    to.value(each->serial);
    to.text(std::string(static_cast<const char*>(each->payload), static_cast<std::size_t>(each->bytes)));
  }
  to.value(false);
}

Err take_messages(Unpacker& from, Rank& rank) {
  while (from.value<bool>()) {
    const auto key = from.value<MatchKey>();
    const auto serial = from.value<std::uint16_t>();
    const std::string data = from.text();
    Message* const cell = take_cell(static_cast<MPI_Count>(data.size()));
    if (cell == nullptr) return fail(MPI_ERR_NO_MEM, "no memory for a message of {} bytes", data.size());
    std::memcpy(cell_payload(cell), data.data(), data.size());
    cell->bytes = static_cast<MPI_Count>(data.size());
    cell->serial = serial;
    (void)rank.matcher.arrive(key, [&]() noexcept { return cell; });
  }
  return kOk;
}

void save_requests(Packer& to, Rank& rank) {
  to.value(rank.requests.last_serial());
  for (const auto& chunk : rank.requests.chunks()) {
    to.value(true);
    to.value(reinterpret_cast<std::uintptr_t>(chunk.data()));
    to.value(chunk.size());
    for (const Request& request : chunk) to.value(saved(request));
  }
  to.value(false);
}

void take_requests(Unpacker& from, Rank& rank) {
  rank.requests.go_on_behind(from.value<std::uint64_t>());
  std::vector<std::pair<std::uint64_t, Request*>> posted;
  while (from.value<bool>()) {
    HandleMemory::of_calling_rank()->expect(reinterpret_cast<void*>(from.value<std::uintptr_t>()));
    for (Request& request : rank.requests.revive_chunk(from.value<std::size_t>())) {
      const auto saved = from.value<SavedRequest>();
      if (saved.magic == 0) {
        rank.requests.give_back(request);
      } else {
        revive(saved, request, rank);
        if (!saved.done) posted.emplace_back(saved.posted, &request);
      }
    }
  }
  std::ranges::sort(posted);
  for (const auto& [sequence, request] : posted) start_recv(*request);
}

}  // namespace tmpi::mpi
