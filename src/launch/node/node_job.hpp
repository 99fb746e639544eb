// NodeJob: the part of the job that runs in this node process: which rank runs which program where, and the
// rules of leaving:
//
//   - a rank that has called MPI_Init must call MPI_Finalize before it leaves, whatever its exit code;
//   - a rank that never calls MPI_Init must not leave while others wait for it in MPI, so it may not leave a
//     job that uses MPI;
//   - any exit code is fine otherwise: the other ranks go on, and the first non-zero code becomes tmpirun's.
//
// A broken rule ends the job with one sentence.
//
// Sources: node_job.cpp the job itself, node_job_programs.cpp its programs, node_job_ranks.cpp its ranks, node_report.cpp what
// is said of it.
#pragma once

#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/control/end_report.hpp"
#include "launch/node/core_share.hpp"
#include "launch/node/layout.hpp"
#include "launch/node/port_calls.hpp"
#include "launch/node/rank_program.hpp"
#include "launch/node/world_starter.hpp"
#include "launch/spec/node_spec.hpp"
#include "launch/wire/state_dump.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/rank.hpp"
#include "privatize/loader.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {

class NodeJob {
 public:
  /// Loads the programs, creates scheduler and ranks. The process's only one.
  static Result<NodeJob*> create(Assignment assignment);
  static NodeJob* instance() noexcept;  ///< null before create(); inside ranks always there
  static NodeJob* running() noexcept;   ///< null before run(); any thread

  /// The job has several node processes.
  bool several() const { return node_.nodes() > 1; }

  /// Runs every rank to its end. The calling thread becomes worker 0.
  void run();

  /// Rank `rank` leaves its program with `code`. Called on its fiber, which it never leaves again. Ends the
  /// job if a rule is broken.
  [[noreturn]] void rank_exited(int rank, int code);

  /// Ends profile and trace, if there are any and they have not ended, and says them. `early`: not all ranks have ended
  /// by themselves. Any thread but a rank's.
  void finish_observation(bool early, const SayAtEnd& say);
  /// Those in the memory of this host, when the job ends. Any thread.
  void forget_checkpoints() const;
  void finish_replay(bool early, const SayAtEnd& say) const;

  /// Where every rank is now. Any thread. `asleep`: no rank can run meanwhile (mpi/diagnose/place.hpp), or those that
  /// do only poll.
  StateDump state_dump(bool asleep = false) const;

 private:
  struct RankStart {
    NodeJob* job = nullptr;
    privatize::Group* program = nullptr;
    const AppSpec* app = nullptr;
    int rank = 0;
    int local = 0;
    int image = 0;  ///< index within its program's images
  };

  explicit NodeJob(Assignment assignment)
      : spec_(std::move(assignment.job)), node_(std::move(assignment.node)) {}
  Result<void> enter_directory();
  Result<void> take_share();
  bool runs_here(std::size_t program) const;
  std::vector<int> input_readers() const;
  void warn_of_sharing() const;
  void prepare_observation() const;
  void prepare_check() const;
  Result<void> prepare_replay() const;
  void warn_of_shared_state() const;
  void prepare_following() const;
  Result<std::vector<std::string>> preloaded_libraries(const AppSpec& app) const;
  Result<void> load_programs();
  Result<void> create_scheduler();
  std::size_t stack_size() const { return spec_.stack_size > 0 ? spec_.stack_size : spec_.default_stack; }
  sched::Progress progress() const;
  int progress_cores() const;  ///< that workers do not get
  void register_with_mpi();
  void spawn_ranks();
  void prepare_spawning();
  Result<LoadedProgram> load_program(RankProgram named, const std::string& wdir, int images,
                                     const AppSpec& app) const;
  bool spawns() const;
  bool meets_other_jobs() const;
  void divide_cores();
  int room_for_workers() const;  ///< without sharing cores
  int most_workers() const;      ///< that this node process may have
  int universe_size() const;     ///< MPI_UNIVERSE_SIZE
  std::vector<std::string> shared_variables(const AppSpec& app) const;
  bool any_program(bool (*has)(const privatize::Group& program)) const;
  bool any_main_refers_to(std::initializer_list<std::string_view> names) const;
  void report_start() const;
  void report_findings() const;
  void report_end() const;
  std::vector<std::string> environment_of(int local, const AppSpec& app) const;
  static void run_rank(void* start);

  mpi::StartInfo start_info(const mpi::Rank& rank) const;
  void on_initialized(const mpi::Rank& rank);
  [[noreturn]] void break_rule(int rank, int code, const std::string& what);

  /// "host a", or with several node processes "node 2 on host a".
  std::string name() const;

  JobSpec spec_;
  NodeSpec node_;
  CoreShare share_;
  int cores_per_worker_ = 1;
  std::vector<int> chosen_cores_;   // --rankfile: of the ranks here, hwloc's logical numbers
  std::vector<std::string> wdirs_;  // by program: where its ranks start; empty: none of them are here
  std::string wdir_;                // where the process is: that of the first program here
  Layout layout_;
  int workers_of_all_ = 0;  // that the node processes may have, where there are several
  mpi::Job* mpi_ = nullptr;
  std::vector<std::unique_ptr<privatize::Group>> programs_;  // by app; null: none of its ranks are here
  std::vector<std::vector<std::string>> arguments_;          // by app: argv of its ranks
  std::unique_ptr<sched::Scheduler> scheduler_;
  std::vector<RankStart> starts_;
  std::unique_ptr<WorldStarter> starter_;
  PortCalls port_calls_;
  std::atomic<int> initialized_{0};        // ranks that have called MPI_Init
  std::atomic<int> left_before_init_{-1};  // a rank that left without having called MPI_Init, -1: none
};

}  // namespace tmpi::launch
