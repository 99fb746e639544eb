// Stdio: the bytes between the ranks and tmpirun's own stdin, stdout and stderr, and what happens when nobody takes
// them any more. tmpirun's one thread; blocks only in wait_for_reader().
#pragma once

#include <string_view>
#include <utility>

#include "base/fd.hpp"
#include "launch/launcher/job_end.hpp"
#include "launch/launcher/node_set.hpp"
#include "launch/report/output.hpp"

namespace tmpi::launch {

class Stdio {
 public:
  /// `reader`: the rank whose stdin is tmpirun's, or kInputToAll. `starter_output`: what comes out of this descriptor, if
  /// there is one, is output of no rank.
  Stdio(const NodeSet& nodes, Output& output, JobEnd& end, int reader, Fd starter_output)
      : nodes_(nodes),
        output_(output),
        end_(end),
        reader_(reader),
        starter_output_(std::move(starter_output)) {}

  /// Bytes of a rank, or of node process N itself (rank -1 - N).
  void write(int rank, int stream, std::string_view bytes);
  /// The node process's own pipe behind stdout or stderr is readable.
  void on_pipe(Node& node, int stream);
  /// So is the pipe behind the stdout of what has started the node processes.
  void on_starter_output();
  int starter_output() const { return starter_output_.get(); }

  /// A rank waits for input; stdin is readable.
  void want_input(int rank);
  bool input_wanted() const { return input_wanted_; }
  void on_input();

  /// Ends the job if its output cannot be written.
  void check_outputs();
  /// Writes the rest. A stuck reader keeps it waiting; any signal but SIGCHLD on `signals` ends the wait, and so do
  /// two that have come before (`interrupts`).
  void wait_for_reader(int signals, int interrupts);

 private:
  const NodeSet& nodes_;
  Output& output_;
  JobEnd& end_;
  int reader_;
  Fd starter_output_;
  bool input_wanted_ = false;
};

}  // namespace tmpi::launch
