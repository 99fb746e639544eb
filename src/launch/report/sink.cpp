#include "launch/report/sink.hpp"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tmpi::launch {

namespace {
// After POLLOUT a pipe takes one page without blocking; more could block.
constexpr std::size_t kSafeChunk = 4096;
constexpr std::size_t kFileChunk = 1 << 20;
}  // namespace

Sink::Sink(int fd) : fd_(fd), terminal_(isatty(fd) == 1) {
  struct stat status {};
  regular_file_ = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

bool Sink::writable() const {
  if (regular_file_) return true;
  pollfd request{fd_, POLLOUT, 0};
  return poll(&request, 1, 0) == 1 && (request.revents & (POLLOUT | POLLERR | POLLHUP | POLLNVAL)) != 0;
}

void Sink::flush() {
  while (pending() > 0 && !broken() && writable()) {
    const std::size_t chunk = std::min(pending(), regular_file_ ? kFileChunk : kSafeChunk);
    const ssize_t done = write(fd_, pending_.data() + written_, chunk);
    if (done >= 0) {
      written_ += static_cast<std::size_t>(done);
    } else if (errno == EAGAIN || errno == EINTR) {
      break;
    } else {
      error_ = errno;
    }
  }
  if (broken() || pending() == 0) {
    pending_.clear();
    written_ = 0;
  } else if (written_ > (std::size_t{1} << 20)) {
    pending_.erase(0, written_);
    written_ = 0;
  }
}

}  // namespace tmpi::launch
