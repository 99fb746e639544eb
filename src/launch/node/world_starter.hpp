// WorldStarter: the node process's part in spawning (docs/design/dynamic-processes.md): hands a rank's wish to tmpirun, makes
// programs, ranks and tasks of a new world ready when tmpirun says so, and lets them run when all node processes have.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/node/rank_program.hpp"
#include "launch/spec/node_spec.hpp"
#include "launch/spec/world_spec.hpp"
#include "launch/wire/frames.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/rank.hpp"
#include "privatize/loader.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {

class WorldStarter {
 public:
  /// Loads a program for so many ranks, which start in `wdir`; any thread. Failure: a sentence, mostly the loader's.
  using LoadProgram =
      std::function<Result<LoadedProgram>(RankProgram named, const std::string& wdir, int images)>;

  /// `node`, `mpi` and `scheduler` live as long as the process, as this does. `variables` are those of every rank
  /// ("NAME=value"), `wdir` is where ranks start.
  WorldStarter(const NodeSpec& node, mpi::Job& mpi, sched::Scheduler& scheduler, LoadProgram load,
               std::vector<std::string> variables, std::string wdir)
      : node_(node),
        mpi_(mpi),
        scheduler_(scheduler),
        load_(std::move(load)),
        variables_(std::move(variables)),
        wdir_(std::move(wdir)) {}

  /// mpi::Callbacks::spawn. SUSPENDS.
  mpi::SpawnOutcome spawn(const mpi::Rank& root, const mpi::SpawnOrder& order);

  /// kWorld and kWorldStart. The control thread; returns at once.
  void on_frame(const Frame& frame);

  /// How a rank of a spawned world was started.
  mpi::StartInfo start_info(const mpi::Rank& rank);

  /// Called before ranks of a world may run. Before the first.
  void set_prepare(void (*prepare)()) { prepare_ = prepare; }

 private:
  struct RankStart {
    WorldStarter* starter;
    privatize::Group* program;
    const WorldApp* app;
    int rank;
    int image;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
  };
  struct Part {  // of a world: what is here
    WorldSpec spec;
    std::vector<LoadedProgram> programs;  // by app; of those whose ranks are all elsewhere nothing
    std::vector<std::unique_ptr<RankStart>> starts;
    std::vector<mpi::Rank*> ranks;
  };
  struct Pending {
    sched::Waiter* waiter;
    mpi::SpawnOutcome* outcome;
  };

  void on_world(WorldSpec spec);
  void on_start(const WorldStart& start);
  void make_ready(Part& part, WorldProblems& problems);
  void load_programs(Part& part, WorldProblems& problems);
  Result<void> make_ranks(Part& part);
  std::vector<int> workers_for(int ranks) const;
  std::vector<std::string> environment_of(const mpi::Rank& rank, int local, int locals) const;
  static void run_rank(void* start);

  const NodeSpec& node_;
  mpi::Job& mpi_;
  sched::Scheduler& scheduler_;
  const LoadProgram load_;
  const std::vector<std::string> variables_;
  const std::string wdir_;
  void (*prepare_)() = nullptr;

  std::mutex loading_;                          // one world at a time
  std::mutex mutex_;                            // guards the rest
  std::map<int, std::unique_ptr<Part>> parts_;  // by number; kept: ranks run on what is in them
  std::map<std::int64_t, Pending> pending_;
  std::int64_t requests_ = 0;
};

}  // namespace tmpi::launch
