#include "launch/launcher/stdio.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

namespace tmpi::launch {
namespace {

constexpr std::size_t kReadSize = 64 << 10;

}  // namespace

void Stdio::write(int rank, int stream, std::string_view bytes) {
  if (Result<void> ok = output_.write(rank, stream, bytes); !ok) {
    end_.because(JobEnd::Cause::kOutputFailed, 1, ok.message());
    end_.kill_nodes();
  }
}

void Stdio::on_pipe(Node& node, int stream) {
  const std::string bytes = node.read_pipe(stream);
  if (bytes.empty()) return;
  if (node.remote() && !node.hello) {
    node.diagnostics += bytes;  // told if the node process cannot be started
    return;
  }
  write(-1 - node.number(), stream, bytes);
}

void Stdio::on_starter_output() {
  std::string buffer(kReadSize, '\0');
  const ssize_t got = read(starter_output_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) return write(-1, 1, std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
  starter_output_.reset();
}

void Stdio::want_input(int rank) {
  input_wanted_ = true;
  output_.rank_waits_for_input(rank);
}

void Stdio::on_input() {
  std::string buffer(kReadSize, '\0');
  const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  input_wanted_ = false;
  buffer.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));  // an unreadable stdin is at its end
  if (reader_ >= 0) return nodes_.of_rank(reader_).send(FrameType::kStdin, 0, buffer);
  nodes_.for_each_running([&](Node& node) { node.send(FrameType::kStdin, 0, buffer); });
}

void Stdio::check_outputs() {
  for (const int stream : {1, 2}) {
    const int error = output_.sink(stream).error();
    if (error == 0 || end_.begun()) continue;
    if (error == EPIPE) {
      end_.because(JobEnd::Cause::kOutputGone, 128 + SIGPIPE, "");
    } else {
      end_.because(JobEnd::Cause::kOutputFailed, 1,
                   fmt::format("cannot write to {}: {}", stream == 1 ? "stdout" : "stderr", strerror(error)));
    }
    end_.kill_nodes();
  }
}

void Stdio::wait_for_reader(int signals, int interrupts) {
  for (output_.flush(); output_.pending() && interrupts < 2; output_.flush()) {
    pollfd requests[3] = {{signals, POLLIN, 0}, {STDOUT_FILENO, POLLOUT, 0}, {STDERR_FILENO, POLLOUT, 0}};
    for (const int stream : {1, 2}) {
      if (output_.sink(stream).pending() == 0) requests[stream].fd = -1;
    }
    poll(requests, 3, -1);
    if (requests[0].revents == 0) continue;
    signalfd_siginfo info;
    if (read(signals, &info, sizeof(info)) == sizeof(info) && info.ssi_signo != SIGCHLD) break;
  }
}

}  // namespace tmpi::launch
