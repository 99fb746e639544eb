#include "mpi/io/raw_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "mpi/io/size_limit.hpp"
#include "sched/file_calls.hpp"
#include "sched/offload.hpp"

namespace tmpi::mpi {

namespace {

ssize_t preadv_nowait(int fd, const iovec* vectors, int count, off_t offset) {
  return ::preadv2(fd, vectors, count, offset, RWF_NOWAIT);
}

// By the kernel's own thread, or one of the pool.
template <class Call>
ssize_t beside(const sched::FileCall& call, Call&& itself) {
  ssize_t result = -1;
  if (sched::call_by_ring(call, result)) return result;
  int error = 0;
  sched::offload([&] {
    result = itself();
    error = errno;
  });
  errno = error;
  return result;
}

ssize_t preadv_beside(int fd, const iovec* vectors, int count, off_t offset) {
  return beside({sched::FileCall::Kind::kRead, fd, vectors, count, offset},
                [=] { return ::preadv(fd, vectors, count, offset); });
}

// The kernel's threads take no SIGXFSZ.
ssize_t pwritev_beside(int fd, const iovec* vectors, int count, off_t offset) {
  return beside({sched::FileCall::Kind::kWrite, fd, vectors, count, offset}, [=] {
    const SizeLimit limit;
    return ::pwritev(fd, vectors, count, offset);
  });
}

}  // namespace

SystemCalls g_system_calls{.read = ::preadv,
                           .write = ::pwritev,
                           .read_cached = preadv_nowait,
                           .read_beside = preadv_beside,
                           .write_beside = pwritev_beside};

namespace {

constexpr std::size_t kMostVectors = 256;
constexpr MPI_Count kMostBytes = MPI_Count{1} << 30;  // Linux moves no more than 2 GiB in a call

// Neighbours in the file, as one call takes them.
class Batch {
 public:
  explicit Batch(std::span<const Piece> pieces) noexcept : rest_(pieces) {}

  bool fill() noexcept {
    while (first_ < rest_.size() && rest_[first_].length == skipped_) ++first_, skipped_ = 0;
    if (first_ == rest_.size()) return false;
    offset_ = rest_[first_].offset + skipped_;
    count_ = 0;
    MPI_Count bytes = 0;
    MPI_Count skip = skipped_;
    for (std::size_t i = first_; i < rest_.size() && count_ < kMostVectors && bytes < kMostBytes; ++i) {
      const Piece& piece = rest_[i];
      if (piece.offset + skip != offset_ + bytes) break;
      const MPI_Count length = std::min(piece.length - skip, kMostBytes - bytes);
      vectors_[count_++] = {piece.data + skip, static_cast<std::size_t>(length)};
      bytes += length;
      skip = 0;
    }
    return true;
  }
  void advance(MPI_Count bytes) noexcept {
    while (bytes > 0) {
      const MPI_Count step = std::min(bytes, rest_[first_].length - skipped_);
      skipped_ += step;
      bytes -= step;
      if (skipped_ == rest_[first_].length) ++first_, skipped_ = 0;
    }
  }
  MPI_Offset offset() const noexcept { return offset_; }
  const iovec* vectors() const noexcept { return vectors_.data(); }
  int count() const noexcept { return static_cast<int>(count_); }

 private:
  std::span<const Piece> rest_;
  std::size_t first_ = 0;  // piece that is not done,
  MPI_Count skipped_ = 0;  // and how much of it is
  MPI_Offset offset_ = 0;
  std::array<iovec, kMostVectors> vectors_;
  std::size_t count_ = 0;
};

struct Answers {
  int error_of_nothing;  ///< what it means if nothing is moved
  bool waits = true;     ///< EAGAIN is no answer
};

template <class Call>
IoResult move(int fd, std::span<const Piece> pieces, Call call, Answers answers,
              const IoResult& begun = {}) noexcept {
  IoResult result{.bytes = begun.bytes};
  Batch batch(pieces);
  if (begun.bytes > 0) batch.advance(begun.bytes);
  while (batch.fill()) {
    const ssize_t done = call(fd, batch.vectors(), batch.count(), batch.offset());
    if (done < 0 && (errno == EINTR || (errno == EAGAIN && answers.waits))) continue;
    if (done <= 0) {
      result.error = done < 0 ? errno : answers.error_of_nothing;
      result.where = batch.offset();
      return result;
    }
    result.bytes += done;
    result.where = batch.offset() + done;
    batch.advance(done);
  }
  return result;
}

int set_lock(int fd, int command, short type, MPI_Offset begin, MPI_Offset end) noexcept {
  struct flock lock;
  std::memset(&lock, 0, sizeof lock);
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = begin;
  lock.l_len = end == 0 ? 0 : end - begin;
  while (fcntl(fd, command, &lock) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

IoResult write_pieces(int fd, std::span<const Piece> pieces) noexcept {
  const SizeLimit limit;
  return move(fd, pieces, g_system_calls.write, {.error_of_nothing = EIO});
}

IoResult read_pieces(int fd, std::span<const Piece> pieces) noexcept {
  return move(fd, pieces, g_system_calls.read, {.error_of_nothing = 0});
}

// A file system that does not know of it says EOPNOTSUPP, an old kernel ENOSYS; nothing is the file's end, or (Linux
// 5.9 and 5.10) not.
IoResult read_cached(int fd, std::span<const Piece> pieces) noexcept {
  IoResult result =
      move(fd, pieces, g_system_calls.read_cached, {.error_of_nothing = EAGAIN, .waits = false});
  if (result.error == EOPNOTSUPP || result.error == ENOSYS) result.error = EAGAIN;
  return result;
}

IoResult read_rest(int fd, std::span<const Piece> pieces, const IoResult& begun) noexcept {
  return move(fd, pieces, g_system_calls.read, {.error_of_nothing = 0}, begun);
}

bool in_few_calls(std::span<const Piece> pieces) noexcept {
  constexpr std::size_t kFew = 4;
  std::size_t calls = 1 + pieces.size() / kMostVectors;
  for (std::size_t i = 1; i < pieces.size() && calls <= kFew; ++i)
    calls += pieces[i].offset != pieces[i - 1].offset + pieces[i - 1].length;
  return calls <= kFew;
}

int sync_beside(int fd) noexcept {
  const sched::FileCall call{.kind = sched::FileCall::Kind::kSync, .fd = fd};
  return beside(call, [=] { return static_cast<ssize_t>(fsync(fd)); }) != 0 ? errno : 0;
}

IoResult write_beside(int fd, std::span<const Piece> pieces) noexcept {
  return move(fd, pieces, g_system_calls.write_beside, {.error_of_nothing = EIO});
}

IoResult read_beside(int fd, std::span<const Piece> pieces, const IoResult& begun) noexcept {
  return move(fd, pieces, g_system_calls.read_beside, {.error_of_nothing = 0}, begun);
}

int try_lock_bytes(int fd, MPI_Offset begin, MPI_Offset end, bool exclusive) noexcept {
  return set_lock(fd, F_OFD_SETLK, exclusive ? F_WRLCK : F_RDLCK, begin, end);
}

void unlock_bytes(int fd, MPI_Offset begin, MPI_Offset end) noexcept {
  (void)set_lock(fd, F_OFD_SETLK, F_UNLCK, begin, end);
}

}  // namespace tmpi::mpi
