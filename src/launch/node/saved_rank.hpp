// A rank in a file: a header, tables of its memory, what MPI and the loader know of it, then its pages as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "privatize/rank_memory.hpp"

namespace tmpi::launch {

struct SavedRank {
  int rank = 0;
  std::uint64_t checkpoint = 0;  ///< number of the one that it is part of
  std::uint64_t stack = 0;       ///< its stack pointer where it goes on
  std::string surroundings;
  std::vector<std::byte> mpi_state, process_state;
  privatize::RankMemory memory;
};

std::string rank_file(const std::string& folder, int rank);

/// Writes the calling rank, whose memory is what it says. Failure: why it could not be written.
Result<void> write_saved_rank(const std::string& folder, const SavedRank& saved);

/// A file that is being read: first all but the pages, which fill() puts where they belong.
class SavedRankFile {
 public:
  /// Failure: it is missing, another user's, damaged, of another rank or checkpoint. Deleted by the caller, who may leave its
  /// stack for good.
  static Result<SavedRankFile*> open(const std::string& folder, std::uint64_t checkpoint, int rank);
  ~SavedRankFile() = default;
  SavedRankFile(const SavedRankFile&) = delete;
  SavedRankFile& operator=(const SavedRankFile&) = delete;

  const SavedRank& saved() const { return saved_; }
  /// Reads the pages to where they were, mapping what is not mapped, and checks them. Runs on no memory of theirs.
  Result<void> fill() const;

 private:
  SavedRankFile() = default;
  Result<void> read_head(std::uint64_t checkpoint);
  bool check_places(std::uint64_t size) const;
  Fd fd_;
  std::string path_;
  SavedRank saved_;
  std::int64_t pages_ = 0;  // where they begin
  std::vector<std::byte> digest_;
};

}  // namespace tmpi::launch
