#include "mpi/create/spawn.hpp"

#include <fmt/format.h>

#include <limits>

#include "mpi/comm/group_ops.hpp"
#include "mpi/create/making.hpp"
#include "mpi/rank/new_context.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rank/spawned.hpp"

namespace tmpi::mpi {
namespace {

// What the root has come to, for all members.
struct Spawned {
  std::vector<int> wanted;   // of each command: maxprocs,
  std::vector<int> started;  // and how many there are
  int first = -1;
  int count = 0;
  ContextId context = 0;
  ContextId locals[2] = {};
  int error = MPI_SUCCESS;
  std::string why;

  void pack(Packer& packer) const {
    packer.values(wanted);
    packer.values(started);
    packer.value(first);
    packer.value(count);
    packer.value(context);
    for (const ContextId local : locals) packer.value(local);
    packer.value(error);
    packer.text(why);
  }
  void unpack(Unpacker& unpacker) {
    wanted = unpacker.values();
    started = unpacker.values();
    first = unpacker.value<int>();
    count = unpacker.value<int>();
    context = unpacker.value<ContextId>();
    for (ContextId& local : locals) local = unpacker.value<ContextId>();
    error = unpacker.value<int>();
    why = unpacker.text();
  }
};

std::string sentence_of(const SpawnOutcome& outcome, bool several) {
  std::string text;
  for (const auto& [command, problem] : outcome.problems) {
    if (!text.empty()) text += "; ";
    if (command >= 0 && several) text += fmt::format("command {}: ", command);
    text += problem;
  }
  return text;
}

void ask(Comm& comm, const SpawnWish& wish, Spawned& mine) {
  if (callbacks().spawn == nullptr) {
    mine.error = MPI_ERR_SPAWN;
    mine.why = "a program that was started by itself cannot start others; start it with tmpirun";
    return;
  }
  if (spans_jobs(*comm.shared->group)) {
    mine.error = MPI_ERR_SPAWN;
    mine.why = "the communicator has ranks of another job, which cannot be the parents of new ones";
    return;
  }
  long long count = 0;
  for (const SpawnCommand& command : wish.commands) count += command.ranks;
  if (count > std::numeric_limits<int>::max()) {
    mine.error = MPI_ERR_SPAWN;
    mine.why = "maxprocs of all commands are more processes than there can be";
    return;
  }
  mine.count = static_cast<int>(count);
  World world;
  const ContextBlock contexts = reserve_contexts(1 + Sides::kContexts);
  world.context = contexts.first;
  mine.context = world.link.context = contexts.first + 1;
  mine.locals[0] = world.link.locals[0] = contexts.first + 2;
  mine.locals[1] = world.link.locals[1] = contexts.first + 3;
  world.link.parents = comm.shared->group;
  const SpawnOrder order{wish.commands, pack_link(world)};
  const SpawnOutcome outcome = callbacks().spawn(*comm.owner, order);
  mine.first = outcome.first;
  if (mine.first >= 0) return;
  mine.error = MPI_ERR_SPAWN;
  mine.why = sentence_of(outcome, wish.commands.size() > 1);
}

}  // namespace

Err spawn(Comm& comm, int root, const SpawnWish& wish, Comm*& created, int* codes) {
  Spawned mine;
  if (comm.rank == root) {
    mine.error = wish.error;
    mine.why = wish.why;
    if (mine.error == MPI_SUCCESS) ask(comm, wish, mine);
    mine.wanted = wish.most;
    for (const SpawnCommand& command : wish.commands)
      mine.started.push_back(mine.error == MPI_SUCCESS ? command.ranks : 0);
    mine.started.resize(mine.wanted.size());  // commands behind one that is refused are not there
  }
  agree(comm, mine, {}, [&](Spawned** all, ContextSource&) {
    for (int rank = 0; rank < comm.size; ++rank) {
      if (rank != root) *all[rank] = *all[root];
    }
  });
  if (codes != MPI_ERRCODES_IGNORE) {
    for (std::size_t command = 0; command < mine.wanted.size(); ++command) {
      for (int process = 0; process < mine.wanted[command]; ++process)
        *codes++ = process < mine.started[command] ? MPI_SUCCESS : MPI_ERR_SPAWN;
    }
  }
  if (mine.error != MPI_SUCCESS) return fail(mine.error, "{}", mine.why);
  const Sides sides{.first = comm.shared->group,
                    .second = Group::range(mine.first, mine.count),
                    .context = mine.context,
                    .locals = {mine.locals[0], mine.locals[1]}};
  created = make_child(comm, take_side(sides, 0));
  return kOk;
}

Comm* take_parent(Rank& rank) {
  const World& world = *rank.started_with;
  if (world.link.parents == nullptr) return nullptr;
  const Sides sides{.first = world.link.parents,
                    .second = Group::range(world.first, world.size),
                    .context = world.link.context,
                    .locals = {world.link.locals[0], world.link.locals[1]}};
  Comm* const parent = make_comm(rank, take_side(sides, 1), nullptr);
  parent->name = "MPI_COMM_PARENT";
  return parent;
}

}  // namespace tmpi::mpi
