#include "launch/attach/attachment.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>
#include <sstream>
#include <utility>

#include "launch/system/key_pipe.hpp"

namespace tmpi::launch {
namespace {

constexpr int kPatience = 5000;  // milliseconds: Slurm ends a step in its own time
constexpr int kGraceAfterTerm = 2000;

// True if the child has ended, and has been collected.
bool ends_within(pid_t child, int milliseconds) {
  const Fd handle(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  pollfd request{handle.get(), POLLIN, 0};
  if (handle) poll(&request, 1, milliseconds);
  return waitpid(child, nullptr, WNOHANG) != 0;
}

}  // namespace

int Attachment::slots() const {
  return std::accumulate(nodes.begin(), nodes.end(), 0,
                         [](int sum, const AttachedNode& node) { return sum + node.slots; });
}

std::string to_text(const Attachment& attachment) {
  std::string text = fmt::format("{} {} {}", attachment.child, attachment.output, attachment.key_pipe);
  for (const AttachedNode& node : attachment.nodes)
    text += fmt::format(" {} {} {}", node.host, node.channel, node.slots);
  return text;
}

Result<Attachment> attachment_from_text(std::string_view text) {
  Attachment attachment;
  std::istringstream words{std::string(text)};
  words >> attachment.child >> attachment.output >> attachment.key_pipe;
  bool sensible = static_cast<bool>(words);
  for (AttachedNode node; sensible && words >> node.host;) {
    words >> node.channel >> node.slots;
    sensible = words && node.channel >= -1 && node.slots > 0;
    attachment.nodes.push_back(node);
  }
  if (!sensible || attachment.nodes.empty()) {
    return Failure{fmt::format(
        "{} is set to something that no program of tmpi has written; it is for tmpi's own use: unset it",
        kAttachmentVariable)};
  }
  return attachment;
}

Result<Attachment> take_attachment() {
  const char* text = getenv(kAttachmentVariable);
  if (text == nullptr) return Attachment{};
  Result<Attachment> attachment = attachment_from_text(text);
  unsetenv(kAttachmentVariable);
  if (!attachment) return attachment;
  std::vector<int> descriptors{attachment->output};
  for (const AttachedNode& node : attachment->nodes) descriptors.push_back(node.channel);
  for (const int fd : descriptors) {
    if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
      return Failure{fmt::format("{} names a descriptor that is not open: unset it", kAttachmentVariable)};
  }
  Result<net::JobKey> key = take_key(Fd(attachment->key_pipe));
  if (!key) return Failure{fmt::format("{}: {}: unset it", kAttachmentVariable, key.message())};
  attachment->key = *std::move(key);
  if (attachment->output >= 0) fcntl(attachment->output, F_SETFL, O_NONBLOCK);
  return attachment;
}

Fd watch_starter(const Attachment& attachment) {
  if (attachment.nodes.empty() || attachment.child > 0) return Fd();
  return Fd(static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0)));
}

void release(const Attachment& attachment) {
  if (attachment.child <= 0 || ends_within(attachment.child, kPatience)) return;
  kill(attachment.child, SIGTERM);
  if (ends_within(attachment.child, kGraceAfterTerm)) return;
  kill(attachment.child, SIGKILL);
  waitpid(attachment.child, nullptr, 0);
}

}  // namespace tmpi::launch
