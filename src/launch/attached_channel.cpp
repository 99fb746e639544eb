#include "launch/attached_channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tmpi::launch {

// The starter may end the job as soon as one of its processes has gone, so tmpirun goes first or at least has
// heard everything.
void AttachedChannel::close(int) noexcept {
  constexpr int kPatience = 5000;  // milliseconds
  shutdown(socket(), SHUT_WR);
  pollfd request{socket(), POLLIN, 0};
  char unread[4096];
  while (poll(&request, 1, kPatience) > 0 && recv(socket(), unread, sizeof(unread), 0) > 0) {
  }
  _exit(0);
}

}  // namespace tmpi::launch
