#include "launch/attach/exec.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "launch/system/key_pipe.hpp"
#include "launch/system/program_path.hpp"

namespace tmpi::launch {
namespace {

void keep_open(int fd) {
  fcntl(fd, F_SETFD, 0);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

}  // namespace

Result<void> exec_tmpirun(Attachment attachment, const net::JobKey& key, char** argv) {
  const Result<std::string> tmpirun = find_companion("tmpirun");
  if (!tmpirun) return tmpirun.failure();
  for (const AttachedNode& node : attachment.nodes) {
    if (node.channel >= 0) keep_open(node.channel);
  }
  if (attachment.output >= 0) keep_open(attachment.output);
  const Result<Fd> pipe = put_key(key);
  if (!pipe) return pipe.failure();
  attachment.key_pipe = pipe->get();
  setenv(kAttachmentVariable, to_text(attachment).c_str(), 1);
  argv[0] = const_cast<char*>("tmpirun");
  execv(tmpirun->c_str(), argv);
  return Failure{fmt::format("cannot start {}: {}", *tmpirun, strerror(errno))};
}

Result<void> exec_node(int channel, const net::JobKey& key, int number) {
  const Result<std::string> node = find_companion("tmpi-node");
  if (!node) return node.failure();
  keep_open(channel);
  const Result<Fd> pipe = put_key(key);
  if (!pipe) return pipe.failure();
  execl(node->c_str(), node->c_str(), "--attached", std::to_string(channel).c_str(),
        std::to_string(pipe->get()).c_str(), std::to_string(number).c_str(), static_cast<char*>(nullptr));
  return Failure{fmt::format("cannot start {}: {}", *node, strerror(errno))};
}

}  // namespace tmpi::launch
