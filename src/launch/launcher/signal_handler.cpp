#include "launch/launcher/signal_handler.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <fstream>

#include "launch/system/program_path.hpp"
#include "launch/system/started_alone.hpp"

namespace tmpi::launch {
namespace {

std::string signal_name(int number) {
  return fmt::format("SIG{}", sigabbrev_np(number) ? sigabbrev_np(number) : "?");
}

/// What a process was started as.
std::string program_of(int process) {
  std::ifstream words(fmt::format("/proc/{}/cmdline", process), std::ios::binary);
  std::string name;
  std::getline(words, name, '\0');
  return name.empty() ? "a program" : name;
}

// Reaches the ranks only if they handle it.
void forward(const NodeSet& nodes, int signal) {
  nodes.for_each_running(
      [&](Node& node) { node.send(FrameType::kSignal, static_cast<std::uint16_t>(signal), ""); });
}

}  // namespace

std::vector<int> SignalHandler::handled_signals() {
  return {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};
}

void SignalHandler::on_readable() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof(info)) == sizeof(info)) {
    if (info.ssi_signo == SIGTERM && info.ssi_code == SI_QUEUE && info.ssi_int == kStartedAlone) {
      on_started_alone(static_cast<int>(info.ssi_pid));
    } else {
      on_signal(static_cast<int>(info.ssi_signo));
    }
  }
}

void SignalHandler::on_signal(int signal) {
  if (signal == job_.settings.checkpoint_signal) return save(signal);
  switch (signal) {
    case SIGCHLD:
      return job_.nodes.collect();
    case SIGUSR1:
      return job_.state_dumps.request_unless_handled(signal, "every rank at this moment:");
    case SIGUSR2:
      return forward(job_.nodes, signal);
    case SIGTSTP:
      return stop();
    case SIGCONT:
      return go_on();
    case SIGQUIT:
      if (ended_by_ == 0) ended_by_ = signal;
      job_.end.because(JobEnd::Cause::kSignal, 128 + SIGQUIT, "ended by SIGQUIT");
      return job_.state_dumps.request("every rank when SIGQUIT came:", true);
    default:
      return on_interrupt(signal);
  }
}

// What a node process says of a checkpoint that has failed it says by itself.
void SignalHandler::save(int signal) {
  if (const Result<void> asked = job_.checkpoints.request([](const Result<void>&) {}); !asked)
    job_.output.message(fmt::format("tmpirun: warning: {}: {}\n", signal_name(signal), asked.message()));
}

void SignalHandler::on_interrupt(int signal) {
  if (ended_by_ == 0) ended_by_ = signal;
  if (interrupts_++ > 0) return job_.end.kill_nodes();
  job_.end.because(JobEnd::Cause::kSignal, 128 + signal,
                   fmt::format("the job was ended by {}", signal_name(signal)));
  job_.nodes.for_each_running([](Node& node) {
    if (node.remote() && !node.hello) node.kill();  // nobody there to handle it, nor to be told
  });
  forward(job_.nodes, signal);
  job_.end.kill_after_reports(kGrace);
}

void SignalHandler::on_started_alone(int process) {
  const std::string name = program_of(process);
  const bool first = job_.end.because(JobEnd::Cause::kRule, kExitCannotRun,
                                      fmt::format("a rank has started {}, a program of tmpi, as a process of "
                                                  "its own, in which it would be rank 0 of 1; "
                                                  "the job has been ended. Give tmpirun {} itself; what is "
                                                  "to run in front of it belongs into --wrapper",
                                                  name, name));
  if (first) job_.end.tell_nodes();
}

void SignalHandler::stop() {
  job_.heartbeat.pause();
  job_.nodes.for_each_running([](Node& node) { node.process().signal_group(SIGSTOP); });
  kill(getpid(), SIGSTOP);  // continues here after SIGCONT, which the signalfd then has
}

// A stopped process goes on by the signal itself; ranks elsewhere have not been stopped, but may handle it.
void SignalHandler::go_on() {
  job_.nodes.for_each_running([](Node& node) {
    node.process().signal_group(SIGCONT);
    if (node.remote()) node.send(FrameType::kSignal, SIGCONT, "");
  });
}

}  // namespace tmpi::launch
