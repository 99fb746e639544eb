// ExploredLog: what a rank of a run that --explore looks at leaves behind (explored_events.hpp), and which messages its
// receives are to take. By the rank's own flow of control; does not suspend.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "replay/chunk_writer.hpp"
#include "replay/explored_events.hpp"
#include "replay/rank_log.hpp"

namespace tmpi::replay {

class ExploredLog {
 public:
  ExploredLog(ChunkFile& file, int rank) : out_(file, rank), random_(static_cast<std::uint64_t>(rank) + 1) {}

  void plan(std::uint32_t number, Envelope envelope) { planned_[number] = envelope; }
  void plan_decision(std::uint32_t number, int value) { planned_decisions_[number] = value; }
  /// What the next receive or probe is to ask for.
  void narrow(Envelope& wanted) const;

  /// A receive or probe begins: its number. `wanted`: as the program asks.
  std::uint32_t ask(std::uint64_t context, Envelope wanted, bool takes);
  void took(std::uint32_t number, Envelope message);
  void sent(std::uint64_t context, int source, int tag, int to);
  void meet(std::uint64_t context, Waits waits, int root, int own, int members);

  /// A test or probe of `what` begins: what it is to say. Loops that ask for the same and do nothing else are one decision:
  /// whether the first one says yes. Null: no decision.
  Answer poll(const void* what);
  void polled(bool yes);
  /// Which request of an array is to be complete, as far as it is planned.
  std::optional<int> planned_request() const;
  /// It was this one; bits of `active`: it might have been.
  void completed(int index, std::uint64_t active);

  /// Clocks of a run that is explored go on by a microsecond with every look: so that no outcome differs by them alone.
  std::int64_t tick() { return now_ += 1000; }
  std::uint64_t random();

 private:
  void decide(Decides what, int value, std::uint64_t alternatives);
  /// Something else than a test has happened.
  void append(const ExploredEvent& event) {
    in_vain_.clear();
    out_.append(bytes_of(event));
  }

  ChunkWriter out_;
  std::uint32_t asked_ = 0;
  std::map<std::uint32_t, Envelope> planned_;
  std::uint32_t decided_ = 0;
  std::map<std::uint32_t, int> planned_decisions_;
  std::set<const void*> in_vain_;   ///< tested since something else has happened
  const void* asks_for_ = nullptr;  ///< of the test that is being made; null: it decides nothing
  std::int64_t now_ = 1'000'000'000'000'000'000;  // in September 2001
  std::uint64_t random_;
};

}  // namespace tmpi::replay
