#include "mpi/io/independent.hpp"

#include <algorithm>
#include <vector>

#include "mpi/io/exclusion.hpp"
#include "mpi/io/io_error.hpp"
#include "mpi/io/limits.hpp"

namespace tmpi::mpi {
namespace {

constexpr MPI_Count kStaging = MPI_Count{1} << 20;  // bytes packed at once

using Mode = RangeLocks::Mode;

// One rank's access, window by window.
class Independent {
 public:
  Independent(NodeFile& file, const Manner& manner, const Access& access)
      : file_(file),
        manner_(manner),
        access_(access),
        cursor_(*access.view, access.start),
        sieves_(sieves()),
        staging_(file.staging()),
        sieve_(file.staging()) {}

  Err run(MPI_Count& done) {
    const bool writes = access_.transfer == Transfer::kWrite;
    const bool ascends = access_.ascending();
    const Exclusion exclusion(file_, manner_.atomic, ascends ? access_.first_offset() : 0,
                              ascends ? access_.end_offset() : kToTheEnd,
                              writes ? Mode::kExclusive : Mode::kShared, writes);
    if (exclusion.error() != 0)
      return failed({.error = exclusion.error(), .where = access_.first_offset()}, done);
    while (done < access_.bytes) {
      collect(done);
      const IoResult result = sieves_ && pieces_.size() > 1 ? sieve() : plain();
      if (access_.transfer == Transfer::kRead && staged_) unpack(done, result.bytes);
      done += result.bytes;
      if (result.error != 0) return failed(result, done);
      if (result.bytes < window_) break;  // the file has ended
    }
    return kOk;
  }

 private:
  bool writing() const noexcept { return access_.transfer == Transfer::kWrite; }

  Err failed(IoResult result, MPI_Count done) const {
    result.bytes = done;
    return transfer_failed(writing() ? "writing" : "reading", file_.path(), access_.bytes, result);
  }

  bool sieves() const {
    const Choice choice = writing() ? manner_.hints.ds_write : manner_.hints.ds_read;
    if (choice == Choice::kDisable || access_.bytes == 0 || access_.contiguous() || !access_.ascending())
      return false;
    if (writing() && (!may_sieve_writes(manner_.hints) || !file_.readable())) return false;
    if (choice == Choice::kEnable) return true;
    const MPI_Count span = access_.end_offset() - access_.first_offset();
    const MPI_Count runs = std::max<MPI_Count>(1, access_.bytes / access_.view->average_run());
    return span / runs <= (writing() ? kSieveWrites : kSieveReads);
  }
  MPI_Count sieve_size() const noexcept {
    return writing() ? manner_.hints.ind_wr_buffer_size : manner_.hints.ind_rd_buffer_size;
  }

  // The next pieces: as many as are moved at once. From memory itself if that is one run, else by way of a packed
  // copy.
  void collect(MPI_Count done) {
    pieces_.clear();
    const MPI_Count left = access_.bytes - done;
    std::byte* memory = access_.memory.direct(done);
    staged_ = memory == nullptr;
    MPI_Count most = left;
    if (staged_) {
      most = std::min(left, kStaging);
      staging_.need(most);
      memory = staging_.data();
    }
    window_ = 0;
    const MPI_Offset begin = cursor_.offset();
    while (window_ < most && pieces_.size() < kMostPieces) {
      MPI_Count length = std::min(cursor_.length(), most - window_);
      if (sieves_) {
        const MPI_Count room = begin + sieve_size() - cursor_.offset();
        if (room <= 0 && !pieces_.empty()) break;
        if (room > 0) length = std::min(length, room);
      }
      pieces_.push_back({cursor_.offset(), length, memory + window_});
      window_ += length;
      cursor_.advance(length);
    }
    if (staged_ && writing()) access_.memory.gather(memory, done, window_);
  }

  void unpack(MPI_Count done, MPI_Count bytes) {
    if (bytes > 0) access_.memory.scatter(staging_.data(), done, bytes);
  }

  MPI_Offset begin() const noexcept { return pieces_.front().offset; }
  MPI_Offset end() const noexcept { return pieces_.back().offset + pieces_.back().length; }

  IoResult plain() {
    // Others that sieve must not write back what was here before.
    const bool shared = writing() && !manner_.atomic && writes_lock(manner_.hints);
    const bool ascends = pieces_.size() == 1 || access_.ascending();
    const Exclusion exclusion(file_, shared, ascends ? begin() : 0, ascends ? end() : kToTheEnd,
                              Mode::kShared, true);
    if (exclusion.error() != 0) return {.error = exclusion.error(), .where = begin()};
    if (!writing()) return file_.read(pieces_, window_);
    return file_.write(pieces_, window_);
  }

  // Moves everything from the first piece to the last at once, what is between them included.
  IoResult sieve() {
    const MPI_Offset from = begin();
    const MPI_Count span = end() - from;
    sieve_.need(span);
    return writing() ? sieve_write(from, span) : sieve_read(from, span);
  }

  IoResult sieve_read(MPI_Offset from, MPI_Count span) {
    IoResult result;
    const Piece whole{from, span, sieve_.data()};
    result = file_.read({&whole, 1}, span);
    const MPI_Offset there = from + result.bytes;  // the end of what could be read
    result.bytes = 0;
    for (const Piece& piece : pieces_) {
      const MPI_Count length = std::clamp<MPI_Count>(there - piece.offset, 0, piece.length);
      if (length > 0)
        __builtin_memcpy(piece.data, sieve_.data() + (piece.offset - from), static_cast<std::size_t>(length));
      result.bytes += length;
      if (length < piece.length) break;
    }
    return result;
  }

  IoResult sieve_write(MPI_Offset from, MPI_Count span) {
    const Exclusion exclusion(file_, !manner_.atomic, from, from + span, Mode::kExclusive, true);
    if (exclusion.error() != 0) return {.error = exclusion.error(), .where = from};
    IoResult result;
    const Piece whole{from, span, sieve_.data()};
    file_.change(2 * span, [&] {
      result = read_pieces(file_.fd(), {&whole, 1});
      if (result.error != 0) {
        result.bytes = 0;
        return;
      }
      std::fill(sieve_.data() + result.bytes, sieve_.data() + span, std::byte{});  // behind the file's end
      for (const Piece& piece : pieces_)
        __builtin_memcpy(sieve_.data() + (piece.offset - from), piece.data,
                         static_cast<std::size_t>(piece.length));
      result = write_pieces(file_.fd(), {&whole, 1});
    });
    const MPI_Offset there = from + result.bytes;
    result.bytes = 0;
    for (const Piece& piece : pieces_) {
      const MPI_Count length = std::clamp<MPI_Count>(there - piece.offset, 0, piece.length);
      result.bytes += length;
      if (length < piece.length) break;
    }
    return result;
  }

  NodeFile& file_;
  const Manner& manner_;
  const Access& access_;
  ViewCursor cursor_;
  const bool sieves_;
  std::vector<Piece> pieces_;
  MPI_Count window_ = 0;  // their bytes
  bool staged_ = false;   // they point into staging_
  Staging staging_, sieve_;
};

}  // namespace

Err transfer(NodeFile& file, const Manner& manner, const Access& access, MPI_Count& done) {
  done = 0;
  if (access.bytes == 0) return kOk;
  return Independent(file, manner, access).run(done);
}

}  // namespace tmpi::mpi
