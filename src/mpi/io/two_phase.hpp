// The two phases of a collective transfer, of one member: what it tells the aggregators on other nodes, and what it
// does if it is one itself. Contribution of collective.cpp.
#pragma once

#include <memory>
#include <vector>

#include "mpi/coll/messages/messages.hpp"
#include "mpi/io/collective.hpp"
#include "mpi/io/coverage.hpp"

namespace tmpi::mpi {

/// What a member brings.
struct Contribution {
  MPI_Offset begin = 0;  ///< bytes [begin, end) of the file hold all that it wants
  MPI_Offset end = 0;
  MPI_Count bytes = 0;
  bool failed = false;
  bool ascending = true;
  bool contiguous = true;
  bool large_runs = true;          ///< in the file and in memory: worth no copy
  const Access* access = nullptr;  ///< for members in the same process, while the operation goes on

  bool meets(MPI_Offset from, MPI_Offset to) const noexcept { return bytes > 0 && begin < to && end > from; }
};

/// Bytes [begin, end) of a file.
struct FileRange {
  MPI_Offset begin;
  MPI_Offset end;
  bool empty() const noexcept { return begin >= end; }
};

/// Who reads and writes which part of the file, and in which windows.
class Domains {
 public:
  /// `stripe`: of the file's devices, 0 if unknown; one is one aggregator's, unless it is larger than a share of the
  /// file and a window.
  Domains(const std::vector<Contribution>& parts, int aggregators, MPI_Count window, MPI_Count stripe);
  MPI_Count rounds() const noexcept { return rounds_; }
  FileRange window(int aggregator, MPI_Count round) const noexcept;

 private:
  MPI_Offset lowest_, highest_;
  MPI_Offset origin_;  // of the domains: on a stripe, so not above lowest_
  MPI_Count domain_, window_;
  MPI_Count rounds_;
};

/// A member's access, of which windows are taken in ascending order.
class Source {
 public:
  explicit Source(const Access& access) : access_(access) {}

  /// Calls take(offset, length, position in memory) for each run in the window.
  template <class Take>
  void in_window(FileRange window, Take&& take) {
    if (cursor_ == nullptr) seek(window.begin);
    while (at_ < access_.end() && cursor_->offset() < window.end) {
      const MPI_Count length =
          std::min({cursor_->length(), window.end - cursor_->offset(), access_.end() - at_});
      take(cursor_->offset(), length, at_ - access_.start);
      at_ += length;
      cursor_->advance(length);
    }
  }
  /// Where its next run begins; behind everything if it has none.
  MPI_Offset next_offset(MPI_Offset window_begin);
  const Access& access() const noexcept { return access_; }

 private:
  void seek(MPI_Offset offset);

  const Access& access_;
  std::unique_ptr<ViewCursor> cursor_;
  MPI_Count at_ = 0;
};

/// Runs that travel between nodes: how many, how many bytes; then the runs, and, to be written, their data.
struct RunList {
  struct Header {
    MPI_Count runs = 0;
    MPI_Count bytes = 0;
  };
  struct Run {
    MPI_Offset offset;
    MPI_Count length;
  };
  Header header;
  std::vector<std::byte> body;

  const Run* runs() const noexcept { return reinterpret_cast<const Run*>(body.data()); }
  std::byte* data() noexcept { return body.data() + header.runs * static_cast<MPI_Count>(sizeof(Run)); }
};

/// What an aggregator does for all with one window of its domain after the other.
class Aggregator {
 public:
  Aggregator(const Collection& all, const std::vector<Contribution>& parts, Transfer transfer,
             MPI_Count window);

  /// `lists`: of members on other nodes, with what is theirs in this window; reading fills in their data.
  void write(FileRange window, std::vector<RunList>& lists);
  void read(FileRange window, std::vector<RunList>& lists);

  Err error() const noexcept { return error_; }
  const std::string& explanation() const noexcept { return explanation_; }
  MPI_Offset eof() const noexcept { return eof_; }  ///< where the file has ended, if it has

 private:
  bool has_nothing(FileRange window, const std::vector<RunList>& lists);
  void write_gathered();
  void write_staged(FileRange window);
  void fill_holes(FileRange window, MPI_Offset begin, MPI_Offset end);
  void read_gathered();
  FileRange read_staged(FileRange window, const std::vector<RunList>& lists);
  void failed(const char* doing, MPI_Count bytes, const IoResult& result);
  std::byte* staged(FileRange window, MPI_Offset offset) noexcept {
    return staging_.data() + (offset - window.begin);
  }

  const Collection& all_;
  std::vector<Source> sources_;  // the members on this node
  bool gathers_;                 // all runs are large: system calls take them where they are
  MPI_Count room_;
  Staging staging_, around_;
  Coverage coverage_;
  std::vector<Piece> pieces_;
  Err error_;
  std::string explanation_;
  MPI_Offset eof_;
};

}  // namespace tmpi::mpi
