// How the job ends, and what is said of it.
#include <errno.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/launcher.hpp"
#include "launch/plan/remote_shell.hpp"
#include "launch/wire/rank_ranges.hpp"

namespace tmpi::launch {
namespace {

constexpr int kExitSsh = 255;  // ssh's own trouble

}  // namespace

void Launcher::request_picture(const std::string& title, bool then_kill) {
  if (then_kill) kill_at_ = Clock::now() + kPictureWait + time_for_reports();
  for_each_running([&](Node& node) {
    if (!node.control_open()) return;
    picture_.asked(node.number(), title, then_kill);
    node.send(FrameType::kPictureWanted, then_kill ? 1 : 0, "");
  });
}

void Launcher::show_picture() {
  const bool then_kill = picture_.then_kill();
  output_.message("tmpirun: " + picture_.take());
  if (then_kill) kill_nodes();
}

std::chrono::seconds Launcher::time_for_reports() const {
  return settings_.job.observed() ? kReports : std::chrono::seconds{0};
}

bool Launcher::end_job(Cause cause, int code, std::string message) {
  if (cause_ != Cause::kNone) return false;
  cause_ = cause;
  cause_code_ = code;
  cause_message_ = std::move(message);
  return true;
}

void Launcher::end_nodes(const Node* except) {
  for_each_running([&](Node& node) {
    if (&node == except) return;
    if (!node.greeting && node.remote()) node.kill();  // still on its way
    node.send(FrameType::kEndNow, 0, "");
  });
  kill_at_ = Clock::now() + kEndingWait + time_for_reports();
}

void Launcher::kill_nodes() {
  for_each_running([](Node& node) { node.kill(); });
  kill_at_.reset();
}

void Launcher::judge_ended_nodes() {
  for (const auto& node : nodes_) {
    if (node->judged || !node->silent()) continue;
    node->judged = true;
    judge(*node);
  }
}

// A node process has ended, and what it had to say has been heard.
void Launcher::judge(Node& node) {
  if (picture_.waits_for(node.number())) {
    picture_.forget(node.number());
    if (picture_.complete() && picture_.has_answers()) show_picture();
  }
  if (node.done || cause_ != Cause::kNone) return;
  end_job(Cause::kNodeDied, code_of(node), describe_dead(node));
  end_nodes(nullptr);
}

// Of another machine's node process only an exit code comes here, as a shell has it.
int Launcher::fatal_signal(const Node& node) {
  const int status = node.process().status();
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  const int code = WEXITSTATUS(status);
  return node.remote() && code > 128 && code <= 128 + SIGRTMAX ? code - 128 : 0;
}

int Launcher::code_of(const Node& node) const {
  const int status = node.process().status();
  if (const int signal = fatal_signal(node)) return 128 + signal;
  return WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kExitSsh ? 1 : WEXITSTATUS(status);
}

std::string Launcher::unfinished_ranks(const Node& node) const {
  std::vector<std::pair<int, int>> ranges;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (node_of(rank) == node.number() && !ended_[static_cast<std::size_t>(rank)])
      ranges.emplace_back(rank, 1);
  }
  return rank_ranges(ranges);
}

std::string Launcher::name_of(const Node& node) const {
  if (!several()) return fmt::format("the node process on host {}", node.host());
  return fmt::format("node process {} on host {}", node.number(), node.host());
}

std::string Launcher::describe_dead(const Node& node) const {
  const int status = node.process().status();
  const int pid = node.remote() && node.greeting ? node.greeting->pid : node.process().pid();
  const std::string who = fmt::format("{} (pid {}), with {},", name_of(node), pid, unfinished_ranks(node));
  if (node.process().adopted()) {
    return fmt::format(
        "{} has gone without a word: it was killed, or its machine or the network to it has failed", who);
  }
  if (node.remote() && WIFEXITED(status) && !node.greeting) {
    return explain_failed_start(settings_.launch_agent, node.host(), WEXITSTATUS(status), plan_.executable,
                                node.diagnostics);
  }
  if (node.remote() && WIFEXITED(status) && WEXITSTATUS(status) == kExitSsh) {
    return fmt::format("the connection to host {} was lost, with {}: {} has ended", node.host(),
                       unfinished_ranks(node), settings_.launch_agent);
  }
  if (const int signal = fatal_signal(node)) {
    return fmt::format(
        "{} was killed by signal {} ({}){}", who, signal, strsignal(signal),
        signal == SIGKILL ? "; somebody sent it, or the kernel was out of memory (see dmesg)" : "");
  }
  return fmt::format(
      "{} ended with exit code {} before its ranks had; a rank called _exit or the like past tmpi", who,
      WEXITSTATUS(status));
}

int Launcher::finish() {
  judge_ended_nodes();
  for (const auto& node : nodes_) {  // channels that are held open by others
    if (!node->judged) judge(*node);
  }
  output_.finish();
  std::vector<std::string> names;
  for (const auto& node : nodes_) names.push_back(name_of(*node));
  for (const std::string& notice : profile_.finish(names))
    output_.message(fmt::format("tmpirun: {}\n", notice));
  int code = exit_code_;
  std::string message;
  if (cause_ != Cause::kNone) {
    code = cause_code_;
    message = cause_message_;
  } else if (failed_ranks_ > 0) {
    message = fmt::format("rank {} on host {} ended with exit code {}", first_failed_,
                          nodes_[static_cast<std::size_t>(node_of(first_failed_))]->host(), exit_code_);
    if (failed_ranks_ > 1)
      message += fmt::format(", the first of {} ranks with a non-zero one", failed_ranks_);
  }
  if (!message.empty())
    output_.message(fmt::format("tmpirun: {}{}", message, message.ends_with('\n') ? "" : "\n"));
  wait_for_reader();
  if (cause_ == Cause::kNone && output_.sink(1).error() == EPIPE) code = 128 + SIGPIPE;
  return code & 0xff;
}

// A stuck reader keeps the rest of the output waiting; any signal ends the wait.
void Launcher::wait_for_reader() {
  for (output_.flush(); output_.pending() && interrupts_ < 2; output_.flush()) {
    pollfd requests[3] = {{signals_, POLLIN, 0}, {STDOUT_FILENO, POLLOUT, 0}, {STDERR_FILENO, POLLOUT, 0}};
    for (int stream : {1, 2}) {
      if (output_.sink(stream).pending() == 0) requests[stream].fd = -1;
    }
    poll(requests, 3, -1);
    if (requests[0].revents == 0) continue;
    signalfd_siginfo info;
    if (read(signals_, &info, sizeof(info)) == sizeof(info) && info.ssi_signo != SIGCHLD) break;
  }
}

}  // namespace tmpi::launch
