// PortRegistry: the ports that a job's ranks have opened, the names that they have published, and who waits at which port
// for whom (MPI report, 11.9). docs/design/dynamic-processes.md. tmpirun has the job's; a program that is started by itself has
// one of its own. Nothing here waits or does I/O: a call gets its answer at once, or when another call brings it. One
// thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/rank/callbacks.hpp"

namespace tmpi::launch {

/// Who has asked: a rank of the job, and its node process's number for the call.
struct PortCaller {
  int rank = 0;
  std::int64_t request = 0;
};

struct PortReply {
  PortCaller to;
  /// The call waits for another one: a further reply comes. `answer.peer` and `answer.pairing` are the rank that has opened
  /// the port, and the port's number.
  bool queued = false;
  mpi::PortAnswer answer;
};

class PortRegistry {
 public:
  /// `job`: no other job has it.
  explicit PortRegistry(std::uint64_t job);
  std::uint64_t job() const noexcept { return job_; }

  /// The replies that a call brings, in the order in which they are to be sent: those of others first. A caller of another
  /// job has a number as mpi/base/other_jobs.hpp has it, and may connect, withdraw, and ask for an owner.
  std::vector<PortReply> call(const PortCaller& caller, const mpi::PortCall& call);

  /// Ranks of other jobs can come to ports that are wide.
  void set_reachable() { reachable_ = true; }
  /// Calls of another job's ranks do not wait any more.
  void forget_job(int index);
  /// The job that a port belongs to, whether there is such a port or not; none: it is no port's name.
  static std::optional<std::uint64_t> job_of_port(std::string_view port);
  /// What other jobs may look up: names, and what they stand for.
  std::vector<std::pair<std::string, std::string>> wide_names() const;

 private:
  struct Port {
    int owner = 0;
    int number = 0;
    bool wide = true;
    std::deque<PortCaller> accepting, connecting;  // one of them is empty
  };
  struct Name {
    int publisher = 0;
    std::string port;
    bool wide = true;
  };
  using Ports = std::map<std::string, Port, std::less<>>;

  PortReply open(const PortCaller& caller, bool wide);
  void close(const PortCaller& caller, const std::string& port, std::vector<PortReply>& replies);
  PortReply publish(const PortCaller& caller, const mpi::PortCall& call);
  PortReply unpublish(const PortCaller& caller, const mpi::PortCall& call);
  PortReply look_up(const PortCaller& caller, const std::string& name) const;
  void pair(const PortCaller& caller, const mpi::PortCall& call, std::vector<PortReply>& replies);
  void withdraw(const PortCaller& caller, const std::string& port, std::vector<PortReply>& replies);
  PortReply owner(const PortCaller& caller, const std::string& port);
  void leave(const PortCaller& caller, std::vector<PortReply>& replies);
  void drop(Ports::iterator port, const char* why, std::vector<PortReply>& replies);
  Ports::iterator find(const std::string& port, std::string& why);

  const std::uint64_t job_;
  const std::string prefix_;  // of the names of the job's ports
  Ports ports_;
  std::map<std::string, Name, std::less<>> names_;
  int opened_ = 0;
  std::int64_t pairings_ = 0;
  bool reachable_ = false;
};

}  // namespace tmpi::launch
