#include "mpi/create/socket_hello.hpp"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/own_thread.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/request/socket_ends.hpp"
#include "sched/sleep.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {
namespace {

struct Hello {
  char magic[12];
  char port[116];  // ends with NUL
};
static_assert(sizeof(Hello) == 128);
constexpr char kMagic[sizeof Hello::magic] = "tmpi join 1";

// Others of the worker run between two looks.
class Pause {
 public:
  void operator()() {
    (void)sched::sleep_until(sched::monotonic_now() + length_);
    length_ = std::min<std::uint64_t>(2 * length_, 1'000'000);
    ++pauses_;
  }
  /// A fifth of a second, and again after each.
  bool is_long() const { return pauses_ % 200 == 199; }

 private:
  std::uint64_t length_ = 10'000;  // nanoseconds
  int pauses_ = 0;
};

// Somebody of this process is to write: a rank, whom a deadlock report finds. So this rank waits as for a message, and a
// thread watches the socket meanwhile. False: there is none to be had.
bool await_bytes(int fd) {
  struct Watched {
    sched::Waiter waiter{1};
    int fd;
  } watched{.fd = fd};
  const auto watch = [](void* argument) -> void* {
    Watched& mine = *static_cast<Watched*>(argument);
    pollfd request{mine.fd, POLLIN, 0};
    while (poll(&request, 1, -1) < 0 && errno == EINTR) continue;
    mine.waiter.complete();
    return nullptr;
  };
  if (!start_own_thread(watch, &watched)) return false;
  wait_for_own_socket(watched.waiter);
  return true;
}

Err failed(int fd, const char* what) {
  return fail(MPI_ERR_PORT, "cannot {} the socket {}: {}", what, fd, strerror(errno));
}

bool once_more() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

Err send_all(int fd, std::span<const std::byte> bytes) {
  for (Pause pause; !bytes.empty();) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && !once_more()) return failed(fd, "write to");
    if (sent < 0) {
      pause();
    } else {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }
  return kOk;
}

Err receive_all(int fd, std::span<std::byte> bytes) {
  for (Pause pause; !bytes.empty();) {
    const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && !once_more()) return failed(fd, "read from");
    if (got == 0)
      return fail(MPI_ERR_PORT,
                  "the other end of the socket {} has closed it; it has to call MPI_Comm_join, too", fd);
    if (got < 0) {
      if (!pause.is_long() || !other_end_is_here(fd) || !await_bytes(fd)) pause();
    } else {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
  }
  return kOk;
}

template <class T>
std::span<std::byte> bytes_of(T& object) {
  return std::as_writable_bytes(std::span(&object, 1));
}

}  // namespace

Err check_socket(int fd) {
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0)
    return fail(MPI_ERR_ARG, "fd is {}, which is no socket: {}", fd, strerror(errno));
  if (type != SOCK_STREAM)
    return fail(MPI_ERR_ARG, "fd is {}, a socket that carries no stream of bytes (SOCK_STREAM)", fd);
  sockaddr_storage peer{};
  length = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0)
    return fail(MPI_ERR_ARG, "fd is {}, a socket without another end: {}", fd, strerror(errno));
  return kOk;
}

Err exchange_ports(int fd, const std::string& mine, std::string& other) {
  Hello hello{};
  std::ranges::copy(kMagic, hello.magic);
  if (mine.size() >= sizeof hello.port)
    return fail(MPI_ERR_INTERN, "a port's name has {} characters", mine.size());
  std::ranges::copy(mine, hello.port);
  const WaitingForSocket waiting(fd);
  TMPI_TRY(send_all(fd, bytes_of(hello)));
  Hello answer{};
  const auto not_tmpi = [&] {
    return fail(
        MPI_ERR_PORT,
        "what has come over the socket {} is not from tmpi's MPI_Comm_join: the other end is of another "
        "MPI, or uses the socket otherwise",
        fd);
  };
  TMPI_TRY(receive_all(fd, bytes_of(answer.magic)));  // what is wrong here may be all that comes
  if (!std::ranges::equal(answer.magic, kMagic)) return not_tmpi();
  TMPI_TRY(receive_all(fd, bytes_of(answer.port)));
  if (answer.port[sizeof answer.port - 1] != '\0') return not_tmpi();
  other = answer.port;
  return kOk;
}

}  // namespace tmpi::mpi
