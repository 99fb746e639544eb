#include "replay/alternatives.hpp"

#include <doctest/doctest.h>

#include "mpi.h"

namespace tmpi::replay {
namespace {

using Logs = std::map<int, std::vector<ExploredEvent>>;

ExploredEvent send(int to, int source, int tag = 0) {
  ExploredEvent event{ExploredKind::kSend};
  event.peer = to, event.context = 1, event.source = source, event.tag = tag;
  return event;
}
ExploredEvent ask(std::uint32_t number, int source, int tag = 0) {
  ExploredEvent event{ExploredKind::kAsk};
  event.context = 1, event.number = number, event.source = source, event.tag = tag, event.peer = 1;
  return event;
}
ExploredEvent take(std::uint32_t number, int source, int tag = 0) {
  ExploredEvent event{ExploredKind::kTake};
  event.number = number, event.source = source, event.tag = tag;
  return event;
}
ExploredEvent barrier(int own, int members) {
  ExploredEvent event{ExploredKind::kCollective};
  event.context = 1, event.peer = own, event.number = static_cast<std::uint32_t>(members);
  return event;
}

TEST_CASE("each message that was on its way is an alternative") {
  const Logs logs{{0, {ask(0, MPI_ANY_SOURCE), take(0, 2), ask(1, MPI_ANY_SOURCE), take(1, 1)}},
                  {1, {send(0, 1)}},
                  {2, {send(0, 2)}}};
  const std::vector<Decision> decisions = decisions_of(logs);
  REQUIRE(decisions.size() == 2);
  CHECK(decisions[0].place == Place{0, 0});
  CHECK(decisions[0].others == std::vector<Taken>{{1, 0}});
  CHECK(decisions[1].others.empty());  // rank 2's is taken
}

TEST_CASE("what was sent because the receive was done is none") {
  const Logs answered{
      {0, {ask(0, MPI_ANY_SOURCE), take(0, 1), send(2, 0), ask(1, MPI_ANY_SOURCE), take(1, 2)}},
      {1, {send(0, 1)}},
      {2, {ask(0, 0), take(0, 0), send(0, 2)}}};
  CHECK(decisions_of(answered)[0].others.empty());
  const Logs met{{0, {ask(0, MPI_ANY_SOURCE), take(0, 1), barrier(0, 3), ask(1, MPI_ANY_SOURCE), take(1, 2)}},
                 {1, {send(0, 1), barrier(1, 3)}},
                 {2, {barrier(2, 3), send(0, 2)}}};
  CHECK(decisions_of(met)[0].others.empty());
}

TEST_CASE("a message that was sent before an unrelated receive is one, and tags are looked at") {
  const Logs logs{
      {0, {ask(0, MPI_ANY_SOURCE, 5), take(0, 1, 5), ask(1, MPI_ANY_SOURCE, MPI_ANY_TAG), take(1, 2, 4)}},
      {1, {send(0, 1, 5), send(0, 1, 6)}},
      {2, {send(0, 2, 4), send(0, 2, 5)}}};
  const std::vector<Decision> decisions = decisions_of(logs);
  CHECK(decisions[0].others == std::vector<Taken>{{2, 5}});
  CHECK(decisions[1].others == std::vector<Taken>{{1, 6}});
}

TEST_CASE("tests and completions may come out otherwise") {
  ExploredEvent test{ExploredKind::kDecide};
  test.peer = static_cast<std::int32_t>(Decides::kAnswer), test.source = 1, test.context = 3;
  ExploredEvent any{ExploredKind::kDecide};
  any.peer = static_cast<std::int32_t>(Decides::kRequest), any.source = 2, any.context = 0b10110,
  any.number = 1;
  const std::vector<Decision> decisions = decisions_of({{0, {test, any}}});
  REQUIRE(decisions.size() == 2);
  CHECK(decisions[0].place == Place{0, 0, false});
  CHECK(decisions[0].others == std::vector<Taken>{{0, 0}});
  CHECK(decisions[1].taken == Taken{2, 0});
  CHECK(decisions[1].others == std::vector<Taken>{{1, 0}, {4, 0}});
}

TEST_CASE("logs that break off have the decisions that were made") {
  const Logs logs{{0, {ask(0, MPI_ANY_SOURCE), take(0, 1), ask(1, MPI_ANY_SOURCE)}},
                  {1, {send(0, 1)}},
                  {2, {send(0, 2)}}};
  const std::vector<Decision> decisions = decisions_of(logs);
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].others == std::vector<Taken>{{2, 0}});
}

}  // namespace
}  // namespace tmpi::replay
