#include "mpi/p2p/probe.hpp"

#include "mpi/p2p/turn.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {
namespace {

void read(const Message& message, Envelope& envelope) noexcept {
  envelope = {message.key.source, message.key.tag, message.bytes};
}

// Looks once; `take` decides whether the message leaves the matcher. If nothing is there and `probe` is
// given, it is hung into the matcher.
Message* look(Comm& comm, const MatchKey& key, bool take, Envelope& envelope, ProbeWaiter* probe) noexcept {
  Matcher& matcher = comm.owner->matcher;
  MatcherLock lock(matcher);
  Message* message = take ? matcher.take_unexpected(key) : matcher.find_unexpected(key);
  if (message != nullptr) {
    read(*message, envelope);
  } else if (probe != nullptr) {
    matcher.add_probe(*probe);
  }
  return message;
}

// The message that woke the probe cannot be gone: only this rank receives. But a message that is taken
// (mprobe) or received by a thread of the same rank may be, so look again.
Message* wait_for(Comm& comm, const MatchKey& key, bool take, Envelope& envelope) noexcept {
  for (;;) {
    sched::Waiter waiter(1);
    ProbeWaiter probe{key, &waiter};
    if (Message* message = look(comm, key, take, envelope, &probe)) {
      found_at_once(*comm.owner);
      return message;
    }
    if (wait_for(waiter, WaitKind::kProbe, comm, comm.context, key.source, key.tag))
      comm.owner->others_had_turn();
  }
}

}  // namespace

bool iprobe(Comm& comm, int source, int tag, Envelope& envelope) noexcept {
  return look(comm, {comm.context, source, tag}, false, envelope, nullptr) != nullptr;
}

void probe(Comm& comm, int source, int tag, Envelope& envelope) noexcept {
  (void)wait_for(comm, {comm.context, source, tag}, false, envelope);
}

Message* improbe(Comm& comm, int source, int tag, Envelope& envelope) noexcept {
  return look(comm, {comm.context, source, tag}, true, envelope, nullptr);
}

Message* mprobe(Comm& comm, int source, int tag, Envelope& envelope) noexcept {
  return wait_for(comm, {comm.context, source, tag}, true, envelope);
}

}  // namespace tmpi::mpi
