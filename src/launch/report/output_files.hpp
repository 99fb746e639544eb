// OutputFiles: --output-filename DIR. Each rank's output goes, unchanged, to DIR/rank.N/stdout and
// DIR/rank.N/stderr. Files are opened when their first byte comes; with more ranks than descriptors, the
// oldest is closed and later opened again.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace tmpi::launch {

class OutputFiles {
 public:
  /// Creates the directory (and its parents) if need be.
  static Result<OutputFiles> create(std::string directory);
  OutputFiles(OutputFiles&& other) noexcept = default;
  OutputFiles& operator=(OutputFiles&&) = delete;

  /// Failure: the file cannot be written; the job should end.
  Result<void> write(int rank, int stream, std::string_view bytes);

 private:
  explicit OutputFiles(std::string directory);
  Result<int> open_file(int rank, int stream);

  std::string directory_;
  std::size_t most_open_;
  std::unordered_map<std::int64_t, Fd> open_;       // rank * 2 + stream - 1 -> descriptor
  std::unordered_map<std::int64_t, bool> created_;  // opened before: append the next time
  std::deque<std::int64_t> order_;                  // of opening
};

}  // namespace tmpi::launch
