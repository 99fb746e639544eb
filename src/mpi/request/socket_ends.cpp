#include "mpi/request/socket_ends.hpp"

#include <dirent.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace tmpi::mpi {
namespace {

// Number in the kernel's table of sockets; 0: none.
unsigned socket_number(int fd) noexcept {
  struct stat found {};
  return fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode) ? static_cast<unsigned>(found.st_ino) : 0;
}

// Of the other end of a UNIX socket, which has no address to be known by; 0: unknown.
unsigned unix_peer_of(int fd) noexcept {
  const int kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (kernel < 0) return 0;
  struct {
    nlmsghdr header;
    unix_diag_req request;
  } question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.request.sdiag_family = AF_UNIX;
  question.request.udiag_states = ~0u;
  question.request.udiag_ino = socket_number(fd);
  question.request.udiag_show = UDIAG_SHOW_PEER;
  memset(question.request.udiag_cookie, 0xff, sizeof question.request.udiag_cookie);
  alignas(nlmsghdr) char answer[512];
  unsigned peer = 0;
  if (::send(kernel, &question, sizeof question, 0) == sizeof question) {
    const ssize_t size = ::recv(kernel, answer, sizeof answer, 0);
    const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
    if (size > 0 && NLMSG_OK(header, static_cast<unsigned>(size)) &&
        header->nlmsg_type == SOCK_DIAG_BY_FAMILY) {
      const auto* found = static_cast<const unix_diag_msg*>(NLMSG_DATA(header));
      int left = static_cast<int>(header->nlmsg_len - NLMSG_LENGTH(sizeof *found));
      for (const auto* attribute = reinterpret_cast<const rtattr*>(found + 1); RTA_OK(attribute, left);
           attribute = RTA_NEXT(attribute, left)) {
        if (attribute->rta_type == UNIX_DIAG_PEER) memcpy(&peer, RTA_DATA(attribute), sizeof peer);
      }
    }
  }
  ::close(kernel);
  return peer;
}

template <class Is>
bool any_descriptor(Is&& is) noexcept {
  DIR* const list = opendir("/proc/self/fd");
  if (list == nullptr) return false;
  bool found = false;
  while (const dirent* const entry = found ? nullptr : readdir(list)) found = is(atoi(entry->d_name));
  closedir(list);
  return found;
}

}  // namespace

bool other_end_is_here(int fd) noexcept {
  sockaddr_storage there{};
  socklen_t size = sizeof there;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&there), &size) != 0) return false;
  if (there.ss_family == AF_UNIX) {
    const unsigned peer = unix_peer_of(fd);
    return peer != 0 && any_descriptor([&](int one) { return socket_number(one) == peer; });
  }
  return any_descriptor([&](int one) {
    sockaddr_storage here{};
    socklen_t length = sizeof here;
    return one != fd && getsockname(one, reinterpret_cast<sockaddr*>(&here), &length) == 0 &&
           length == size && memcmp(&here, &there, size) == 0;
  });
}

}  // namespace tmpi::mpi
