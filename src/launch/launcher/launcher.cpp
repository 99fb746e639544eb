#include "launch/launcher/launcher.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "launch/launcher/deadlines.hpp"
#include "launch/spec/node_spec.hpp"
#include "launch/system/program_path.hpp"

extern char** environ;

namespace tmpi::launch {

namespace {

constexpr int kPollsPerNode = 3;  // control channel, stdout, stderr
constexpr rlim_t kOwnDescriptors = 64;

std::string signal_name(int number) {
  return fmt::format("SIG{}", sigabbrev_np(number) ? sigabbrev_np(number) : "?");
}

/// A job of hundreds of node processes may need more than the usual soft limit.
void allow_descriptors(rlim_t needed) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(limit.rlim_max, needed);
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Random bytes from the kernel; tmpirun needs no library for that.
template <class Value>
void draw(Value& value) {
  [[maybe_unused]] const ssize_t got = getrandom(&value, sizeof(value), 0);
}

std::vector<std::string> own_environment() {
  std::vector<std::string> lines;
  for (char** entry = environ; *entry != nullptr; ++entry) lines.emplace_back(*entry);
  return lines;
}

}  // namespace

std::vector<int> Launcher::handled_signals() {
  return {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD};
}

Launcher::Launcher(const Settings& settings, JobPlan plan, Output& output, ProfileReport& profile,
                   int signals)
    : settings_(settings),
      plan_(std::move(plan)),
      output_(output),
      profile_(profile),
      signals_(signals),
      ranks_(settings.job.total_ranks()),
      ended_(static_cast<std::size_t>(ranks_), false),
      rest_(plan_.size()) {}

int Launcher::run() {
  if (settings_.timeout > 0) {
    timeout_ = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings_.timeout));
  }
  if (const Result<void> started = start_nodes(); !started) {
    end_job(Cause::kProtocol, 1, started.message());
    kill_nodes();
  } else if (!plan_.any_remote()) {
    send_jobs();
  }
  const auto running = [](const auto& node) { return node->running(); };
  while (std::ranges::any_of(nodes_, running)) poll_once();
  drain_after_death();
  return finish();
}

Result<void> Launcher::start_nodes() {
  allow_descriptors(static_cast<rlim_t>(plan_.size()) * kPollsPerNode + kOwnDescriptors);
  std::string farewell;
  append_frame(farewell, FrameType::kEndNow, -1, 0, {});
  for (const int channel : plan_.unneeded)  // they stay open: their greeting is never read
    ::send(channel, farewell.data(), farewell.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  for (int number = 0; number < plan_.size(); ++number) {
    const NodePlan& plan = plan_.nodes[static_cast<std::size_t>(number)];
    if (plan.channel >= 0) {
      nodes_.push_back(std::make_unique<Node>(number, plan, NodeProcess::adopt(plan.channel)));
      continue;
    }
    Result<NodeProcess> process = NodeProcess::start(
        plan.command, plan.remote ? NodeProcess::Channel::kStandard : NodeProcess::Channel::kDescriptor);
    if (!process) return process.failure();
    nodes_.push_back(std::make_unique<Node>(number, plan, *std::move(process)));
  }
  return {};
}

// With node processes elsewhere, only their greetings tell which machines they are on.
void Launcher::send_jobs() {
  jobs_sent_ = true;
  Assignment assignment{settings_.job, {}};
  NodeSpec& spec = assignment.node;
  if (several()) {
    draw(spec.job);
    draw(spec.secret.bytes);
    spec.node_of = plan_.node_of;
  }
  spec.hosts.clear();
  std::map<std::string, int> sharers;  // by machine
  std::vector<std::string> machines;
  for (const auto& node : nodes_) {
    spec.hosts.push_back(node->host());
    machines.push_back(plan_.any_remote() ? node->greeting->machine + " " + node->greeting->cores : "");
    ++sharers[machines.back()];
    if (plan_.any_remote()) spec.same_machine &= node->greeting->network == nodes_[0]->greeting->network;
  }
  std::error_code unknown;
  spec.directory = std::filesystem::current_path(unknown).string();
  std::map<std::string, int> shares;
  for (const auto& node : nodes_) {
    const std::string& machine = machines[static_cast<std::size_t>(node->number())];
    spec.node = node->number();
    spec.share = shares[machine]++;
    spec.sharers = sharers[machine];
    spec.remote = node->remote();
    const bool has_none = node->remote() && !node->process().adopted();  // of what tmpirun was started with
    spec.environment = has_none ? own_environment() : std::vector<std::string>{};
    node->send(FrameType::kJob, 0, pack(assignment));
  }
  if (plan_.any_remote()) send_signs_of_life(false);
}

void Launcher::watch(std::vector<pollfd>& requests, bool take_more) const {
  const auto add = [&](int fd, short events) { requests.push_back({fd, events, 0}); };
  add(signals_, POLLIN);
  add(stdin_wanted_ ? STDIN_FILENO : -1, POLLIN);
  for (const int stream : {1, 2})
    add(output_.sink(stream).pending() > 0 ? output_.sink(stream).fd() : -1, POLLOUT);
  add(plan_.starter, POLLIN);
  for (const auto& node : nodes_) {
    add(node->control(),
        static_cast<short>((take_more ? POLLIN : 0) | (node->wants_to_send() ? POLLOUT : 0)));
    for (const int stream : {1, 2}) add(take_more ? node->pipe(stream) : -1, POLLIN);
  }
}

void Launcher::poll_once() {
  const bool take_more = !output_.congested();
  std::vector<pollfd> requests;
  watch(requests, take_more);
  const pollfd& signals = requests[0];
  const pollfd& input = requests[1];
  const pollfd& starter = requests[4];
  const pollfd* nodes = requests.data() + 5;
  const int timeout = poll_timeout();
  const auto start = Clock::now();
  if (poll(requests.data(), requests.size(), timeout) < 0 && errno != EINTR) return;
  forgive(Clock::now() - start - std::chrono::milliseconds(timeout));
  if (signals.revents != 0) on_signals();
  for (const auto& node : nodes_) serve(*node, nodes + kPollsPerNode * node->number(), take_more);
  if (input.revents != 0) on_stdin();
  if (starter.revents != 0) on_starter_gone();
  judge_ended_nodes();
  on_deadlines();
  output_.flush();
  check_outputs();
}

void Launcher::serve(Node& node, const pollfd* requests, bool take_more) {
  if ((requests[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && take_more) on_control(node);
  if ((requests[0].revents & POLLOUT) != 0) node.flush();
  for (const int stream : {1, 2}) {
    if (requests[stream].revents != 0) on_pipe(node, stream);
  }
}

int Launcher::poll_timeout() const {
  int wait = output_.idle_wait();
  std::optional<Clock::time_point> look;  // whether an ended node process is silent
  for (const auto& node : nodes_) {
    if (!node->running() && !node->judged) look = Clock::now() + std::chrono::milliseconds(50);
  }
  for (const auto& deadline :
       {timeout_, kill_at_, sign_of_life_, look, loss_ ? std::optional(loss_->deadline) : std::nullopt}) {
    if (!deadline) continue;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    const int bounded = static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
    wait = wait < 0 ? bounded : std::min(wait, bounded);
  }
  return wait;
}

void Launcher::on_signals() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof(info)) == sizeof(info)) on_signal(static_cast<int>(info.ssi_signo));
}

void Launcher::on_signal(int signal) {
  const auto forward = [&] {
    for_each_running(
        [&](Node& node) { node.send(FrameType::kSignal, static_cast<std::uint16_t>(signal), ""); });
  };
  switch (signal) {
    case SIGCHLD:
      for (const auto& node : nodes_) node->collect();
      break;
    case SIGUSR1:
      request_picture("every rank at this moment:", false);
      forward();  // reaches the ranks only if they handle it
      break;
    case SIGUSR2:
      forward();
      break;
    case SIGTSTP:
      stop_and_continue();
      break;
    case SIGQUIT:
      end_job(Cause::kSignal, 128 + SIGQUIT, "ended by SIGQUIT");
      request_picture("every rank when SIGQUIT came:", true);
      break;
    default:
      if (interrupts_++ > 0) {
        kill_nodes();
        break;
      }
      end_job(Cause::kSignal, 128 + signal, fmt::format("the job was ended by {}", signal_name(signal)));
      forward();
      kill_at_ = Clock::now() + kGrace + time_for_reports();
  }
}

// Node processes on other machines end when they hear nothing for a while (control.cpp).
void Launcher::send_signs_of_life(bool last) {
  sign_of_life_ = Clock::now() + kSignOfLife;
  for_each_running([&](Node& node) {
    if (node.remote()) node.send(FrameType::kAlive, last ? 1 : 0, "");
  });
}

void Launcher::stop_and_continue() {
  if (sign_of_life_) send_signs_of_life(true);
  for_each_running([](Node& node) { node.process().signal_group(SIGSTOP); });
  kill(getpid(), SIGSTOP);  // continues here after SIGCONT
  for_each_running([](Node& node) { node.process().signal_group(SIGCONT); });
}

void Launcher::on_pipe(Node& node, int stream) {
  const std::string bytes = node.read_pipe(stream);
  if (bytes.empty()) return;
  if (node.remote() && !node.greeting) {
    node.diagnostics += bytes;  // told if the node process cannot be started
    return;
  }
  write_output(-1 - node.number(), stream, bytes);
}

void Launcher::on_stdin() {
  std::string buffer(64 << 10, '\0');
  const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  stdin_wanted_ = false;
  buffer.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));  // an unreadable stdin is at its end
  nodes_[static_cast<std::size_t>(node_of(0))]->send(FrameType::kStdin, 0, buffer);
}

// tmpirun has slept longer than it wanted to: it was stopped. What the others have done meanwhile it sees
// now.
void Launcher::forgive(Clock::duration pause) {
  if (pause < kPause) return;
  if (kill_at_) *kill_at_ += pause;
  if (loss_) loss_->deadline += pause;
}

void Launcher::on_deadlines() {
  const auto now = Clock::now();
  output_.flush_idle();
  if (timeout_ && now >= *timeout_) {
    timeout_.reset();
    end_job(Cause::kTimeout, kExitTimeout,
            fmt::format("the job was ended after its --timeout of {} seconds", settings_.timeout));
    request_picture("--timeout: every rank at this moment:", true);
  }
  if (loss_ && now >= loss_->deadline) {
    Node& lost = *nodes_[static_cast<std::size_t>(loss_->node)];
    if (!lost.done && end_job(Cause::kConnectionLost, 1, loss_->text)) end_nodes(nullptr);
    // It would not hear of the end; it ends by itself when it hears nothing.
    if (!lost.done && lost.process().adopted()) lost.kill();
    loss_.reset();
  }
  if (sign_of_life_ && now >= *sign_of_life_) send_signs_of_life(false);
  if (kill_at_ && now >= *kill_at_) {
    if (picture_.has_answers()) show_picture();  // of those that have answered
    kill_nodes();
  }
}

// Nobody would end the job, and nobody hears it.
void Launcher::on_starter_gone() {
  close(std::exchange(plan_.starter, -1));
  if (end_job(Cause::kSignal, 1, "the launcher that has started the job is gone")) end_nodes(nullptr);
}

void Launcher::write_output(int rank, int stream, std::string_view bytes) {
  if (Result<void> ok = output_.write(rank, stream, bytes); !ok) {
    end_job(Cause::kOutputFailed, 1, ok.message());
    kill_nodes();
  }
}

void Launcher::check_outputs() {
  for (int stream : {1, 2}) {
    const int error = output_.sink(stream).error();
    if (error == 0 || cause_ != Cause::kNone) continue;
    if (error == EPIPE) {
      end_job(Cause::kOutputGone, 128 + SIGPIPE, "");
    } else {
      end_job(Cause::kOutputFailed, 1,
              fmt::format("cannot write to {}: {}", stream == 1 ? "stdout" : "stderr", strerror(error)));
    }
    kill_nodes();
  }
}

void Launcher::drain_after_death() {
  // First the descendants: a forked child of a rank holds the channels open as well.
  descendants_.end_all();
  kill_at_ = Clock::now() + kDrain;
  const auto open = [&] {
    return std::ranges::any_of(nodes_, [](const auto& node) { return node->anything_open(); });
  };
  const auto wanted = [&] {
    return cause_ != Cause::kOutputGone && cause_ != Cause::kOutputFailed && interrupts_ < 2;
  };
  const auto unread = [&] {
    return std::ranges::any_of(nodes_, [](const auto& node) { return node->unread(); });
  };
  while (open() && wanted() && (kill_at_ || output_.congested() || unread())) poll_once();
}

}  // namespace tmpi::launch
