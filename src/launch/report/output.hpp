// Output: where the ranks' bytes go: tmpirun's stdout and stderr as whole lines, or a directory of files.
// Also carries tmpirun's own messages, so that they never break into a rank's line.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "launch/report/line_merger.hpp"
#include "launch/report/output_files.hpp"
#include "launch/report/sink.hpp"

namespace tmpi::launch {

class Output {
 public:
  /// `merge`: what ranks write to stderr goes where their stdout goes. `files`: --output-filename, or nothing.
  Output(Tags tags, bool merge, std::optional<OutputFiles> files);
  Output(const Output&) = delete;  // the mergers point at the sinks
  Output& operator=(const Output&) = delete;

  /// Bytes of a rank (-1: of the node process itself). Failure: files cannot be written.
  Result<void> write(int rank, int stream, std::string_view bytes);
  void rank_ended(int rank);
  void rank_waits_for_input(int rank);
  void message(std::string_view line);
  void finish();

  void flush();
  bool pending() const { return out_.pending() + err_.pending() > 0; }
  /// So much waits to be written that no more should be taken from the ranks.
  bool congested() const { return out_.pending() + err_.pending() > kCongested; }
  const Sink& sink(int stream) const { return stream == 1 ? out_ : err_; }

  /// Milliseconds until flush_idle() has something to do, -1: nothing.
  int idle_wait() const;
  void flush_idle();

 private:
  static constexpr std::size_t kCongested = 1 << 20;
  static constexpr std::chrono::milliseconds kIdle{100};
  LineMerger& merger(int stream) { return stream == 1 || !separate_ ? *out_lines_ : *err_lines_; }

  Sink out_;
  Sink err_;
  bool merge_;
  bool separate_;  // stdout and stderr are different files; else lines of both are merged in one place
  std::unique_ptr<LineMerger> out_lines_;
  std::unique_ptr<LineMerger> err_lines_;
  std::optional<OutputFiles> files_;
  std::chrono::steady_clock::time_point last_write_;
  bool idle_done_ = false;  // flush_idle() has run since
};

}  // namespace tmpi::launch
