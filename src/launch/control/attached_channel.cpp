#include "launch/control/attached_channel.hpp"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tmpi::launch {

Result<Assignment> AttachedChannel::receive_job(FrameReader& incoming) {
  Result<Assignment> assignment = ControlChannel::receive_job(incoming);
  if (assignment && key_) assignment->node.secret = key_->secret;
  return assignment;
}

ssize_t AttachedChannel::get(FrameReader& incoming) {
  std::string opened;
  const ssize_t got = stream_.receive(socket(), opened);
  incoming.add(opened);
  return got;
}

// The starter may end the job as soon as one of its processes has gone, so tmpirun goes first or at least has
// heard everything, which takes as long as the reader of its output. Keep-alive (tune_channel) tells if its
// machine is gone.
bool AttachedChannel::await_end(int socket, int milliseconds) noexcept {
  shutdown(socket, SHUT_WR);
  pollfd request{socket, POLLIN, 0};
  char unread[4096];
  for (;;) {
    const int ready = poll(&request, 1, milliseconds);
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t got = recv(socket, unread, sizeof(unread), MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) continue;
    return true;
  }
}

void AttachedChannel::close(int) noexcept {
  await_end(socket(), -1);
  _exit(0);
}

}  // namespace tmpi::launch
