// NodeProcess: one tmpi-node started by tmpirun, with its control channel and the pipes behind its own stdout
// and stderr (what ranks write past their per-rank streams, and what their child processes print). It leads a
// process group of its own, dies with tmpirun, and no descendant of it survives reap_all().
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::launch {

class NodeProcess {
 public:
  /// Starts `executable` on this machine. All descriptors of ours are non-blocking and closed on exec.
  static Result<NodeProcess> start(const std::string& executable);
  NodeProcess(NodeProcess&& other) noexcept;
  NodeProcess& operator=(NodeProcess&&) = delete;
  ~NodeProcess();

  pid_t pid() const { return pid_; }
  int control() const { return control_; }
  int output(int stream) const { return output_[stream - 1]; }  ///< stream 1 or 2

  /// A signal to the process and everything in its group.
  void signal_group(int signal) const;

  /// Collects the process if it has ended (no wait); true once it has. status() is then waitpid's.
  bool reap();
  int status() const { return status_; }

  /// After the process has ended: kills what is left of its group and every descendant that has become ours,
  /// waits for them.
  void reap_all();

 private:
  NodeProcess() = default;
  pid_t pid_ = -1;
  int control_ = -1;
  int output_[2] = {-1, -1};
  bool reaped_ = false;
  int status_ = 0;
  std::vector<pid_t> not_ours_;  // children that tmpirun had before (from before its exec)
};

}  // namespace tmpi::launch
