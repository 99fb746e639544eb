#include "launch/launcher.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "launch/demangle.hpp"
#include "launch/program_path.hpp"
#include "launch/rank_ranges.hpp"

namespace tmpi::launch {

namespace {

constexpr std::chrono::seconds kGrace{5};        // for a program that handles SIGTERM itself
constexpr std::chrono::seconds kPictureWait{2};  // for a node process to answer
constexpr std::chrono::seconds kReports{60};     // more for the files of --profile and --trace
constexpr std::chrono::seconds kDrain{2};        // for channels to end after all their writers have
constexpr std::size_t kReadSize = 256 << 10;

std::string host_name() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  return name;
}

std::string signal_name(int number) {
  return fmt::format("SIG{}", sigabbrev_np(number) ? sigabbrev_np(number) : "?");
}

}  // namespace

std::vector<int> Launcher::handled_signals() {
  return {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD};
}

Launcher::Launcher(const Settings& settings, NodeProcess node, Output& output, int signals)
    : settings_(settings),
      node_(std::move(node)),
      output_(output),
      signals_(signals),
      host_(host_name()),
      ranks_(settings.job.total_ranks()),
      ended_(static_cast<std::size_t>(ranks_), false) {}

int Launcher::run() {
  if (settings_.timeout > 0) {
    timeout_ = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings_.timeout));
  }
  send(FrameType::kJob, 0, pack(settings_.job));
  while (!node_.reap()) poll_once();
  drain_after_death();
  return finish();
}

void Launcher::poll_once() {
  const bool take_more = !output_.congested();
  pollfd requests[7];
  nfds_t count = 0;
  const auto watch = [&](int fd, short events) {
    requests[count] = {fd, events, 0};
    return count++;
  };
  const nfds_t signals = watch(signals_, POLLIN);
  const nfds_t control =
      watch(control_open_ ? node_.control() : -1,
            static_cast<short>((take_more ? POLLIN : 0) | (control_out_.empty() ? 0 : POLLOUT)));
  const nfds_t pipes = watch(pipe_open_[0] && take_more ? node_.output(1) : -1, POLLIN);
  watch(pipe_open_[1] && take_more ? node_.output(2) : -1, POLLIN);
  const nfds_t input = watch(stdin_wanted_ && control_open_ ? STDIN_FILENO : -1, POLLIN);
  for (int stream : {1, 2})
    watch(output_.sink(stream).pending() > 0 ? output_.sink(stream).fd() : -1, POLLOUT);

  if (poll(requests, count, poll_timeout()) < 0 && errno != EINTR) return;
  if (requests[signals].revents != 0) on_signals();
  if ((requests[control].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && take_more) on_control();
  if ((requests[control].revents & POLLOUT) != 0) flush_control();
  for (int stream : {1, 2}) {
    if (requests[pipes + static_cast<nfds_t>(stream) - 1].revents != 0) on_pipe(stream);
  }
  if (requests[input].revents != 0) on_stdin();
  on_deadlines();
  output_.flush();
  check_outputs();
}

int Launcher::poll_timeout() const {
  int wait = output_.idle_wait();
  for (const auto& deadline : {timeout_, kill_at_}) {
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
  switch (signal) {
    case SIGCHLD:
      node_.reap();
      break;
    case SIGUSR1:
      request_picture("every rank at this moment:", false);
      send(FrameType::kSignal, SIGUSR1, "");  // reaches the ranks only if they handle it
      break;
    case SIGUSR2:
      send(FrameType::kSignal, SIGUSR2, "");
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
        kill_node();
        break;
      }
      end_job(Cause::kSignal, 128 + signal, fmt::format("the job was ended by {}", signal_name(signal)));
      send(FrameType::kSignal, static_cast<std::uint16_t>(signal), "");
      kill_at_ = Clock::now() + kGrace + time_for_reports();
  }
}

void Launcher::stop_and_continue() {
  node_.signal_group(SIGSTOP);
  kill(getpid(), SIGSTOP);  // continues here after SIGCONT
  node_.signal_group(SIGCONT);
}

void Launcher::on_control() {
  // Bounded per round, so that signals and outputs get their turn.
  for (int round = 0; round < 4; ++round) {
    char* room = control_in_.room(kReadSize);
    const ssize_t got = read(node_.control(), room, kReadSize);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      control_open_ = false;
      if (!kill_at_) kill_at_ = Clock::now() + kGrace;  // it should be ending; see to it
      return;
    }
    control_in_.filled(static_cast<std::size_t>(got));
    Frame frame;
    FrameReader::Status status;
    while ((status = control_in_.next(frame)) == FrameReader::Status::kFrame) on_frame(frame);
    if (status == FrameReader::Status::kGarbage) {
      end_job(Cause::kProtocol, 1,
              fmt::format("the node process on host {} sent bytes that are not tmpi's protocol", host_));
      kill_node();
      control_open_ = false;
      return;
    }
    if (output_.congested()) output_.flush();
    if (output_.congested()) return;
  }
}

void Launcher::on_frame(const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::kHello:
      return on_hello(frame);
    case FrameType::kNotice:
      return output_.message(fmt::format("tmpirun: {}\n", frame.payload));
    case FrameType::kOutput:
      return write_output(frame.header.rank, frame.header.detail == 1 ? 1 : 2, frame.payload);
    case FrameType::kExits:
      return on_exits(frame);
    case FrameType::kStdinWanted:
      stdin_wanted_ = true;
      return output_.rank_waits_for_input(frame.header.rank);
    case FrameType::kPicture:
      return on_picture(frame);
    case FrameType::kEnd:
      return on_end(frame);
    case FrameType::kDone:
      done_ = true;
      return;
    default:
      end_job(Cause::kProtocol, 1,
              fmt::format("the node process on host {} sent an unknown message (type {}); do tmpirun and "
                          "tmpi-node belong to the same installation?",
                          host_, static_cast<int>(frame.header.type)));
      kill_node();
  }
}

void Launcher::on_hello(const Frame& frame) {
  std::string_view payload = frame.payload;
  HelloRecord hello{};
  if (read_record(payload, hello) && hello.magic == kWireMagic && hello.version == kWireVersion) return;
  end_job(Cause::kProtocol, 1,
          fmt::format(
              "tmpi-node on host {} speaks version {} of the control protocol, tmpirun speaks {}; install "
              "the same tmpi for both",
              host_, hello.version, kWireVersion));
  kill_node();
}

void Launcher::on_exits(const Frame& frame) {
  std::string_view payload = frame.payload;
  for (ExitRecord record{}; read_record(payload, record);) {
    if (record.rank < 0 || record.rank >= ranks_) continue;
    ended_[static_cast<std::size_t>(record.rank)] = true;
    output_.rank_ended(record.rank);
    if (record.code == 0) continue;
    if (failed_ranks_++ == 0) {
      first_failed_ = record.rank;
      exit_code_ = record.code;
    }
  }
}

void Launcher::on_end(const Frame& frame) {
  std::string_view payload = frame.payload;
  EndRecord record{};
  if (!read_record(payload, record)) return;
  if (static_cast<EndKind>(frame.header.detail) == EndKind::kSignalled)
    return;  // our own signal; already worded
  end_job(Cause::kNodeReported, record.code == 0 ? 1 : record.code, demangle_words(payload));
  // The node process ends by itself now; a rank's stuck child process must not keep it, nor may a heap that a
  // crash has left locked.
  const bool crashed = static_cast<EndKind>(frame.header.detail) == EndKind::kCrashed;
  kill_at_ = Clock::now() + kGrace + (crashed ? std::chrono::seconds{0} : time_for_reports());
}

void Launcher::on_picture(const Frame& frame) {
  output_.message(fmt::format("tmpirun: {}\n{}", picture_title_, describe(unpack_picture(frame.payload))));
  if (kill_after_picture_) kill_node();
}

void Launcher::on_pipe(int stream) {
  char buffer[64 << 10];
  const ssize_t got = read(node_.output(stream), buffer, sizeof(buffer));
  if (got > 0) return write_output(-1, stream, std::string_view(buffer, static_cast<std::size_t>(got)));
  if (got == 0) pipe_open_[stream - 1] = false;
}

void Launcher::on_stdin() {
  std::string buffer(64 << 10, '\0');
  const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  stdin_wanted_ = false;
  buffer.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));  // an unreadable stdin is at its end
  send(FrameType::kStdin, 0, buffer);
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
  if (kill_at_ && now >= *kill_at_) kill_node();
}

void Launcher::write_output(int rank, int stream, std::string_view bytes) {
  if (Result<void> ok = output_.write(rank, stream, bytes); !ok) {
    end_job(Cause::kOutputFailed, 1, ok.message());
    kill_node();
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
    kill_node();
  }
}

void Launcher::send(FrameType type, std::uint16_t detail, std::string_view payload) {
  append_frame(control_out_, type, -1, detail, payload);
  flush_control();
}

void Launcher::flush_control() {
  while (control_open_ && !control_out_.empty()) {
    const ssize_t done =
        ::send(node_.control(), control_out_.data(), control_out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EAGAIN) return;
    if (done < 0) return control_out_.clear();  // the node process is gone; reading its channel tells so
    control_out_.erase(0, static_cast<std::size_t>(done));
  }
}

void Launcher::request_picture(const std::string& title, bool then_kill) {
  picture_title_ = title;
  kill_after_picture_ |= then_kill;
  if (then_kill) kill_at_ = Clock::now() + kPictureWait + time_for_reports();
  send(FrameType::kPictureWanted, then_kill ? 1 : 0, "");
}

std::chrono::seconds Launcher::time_for_reports() const {
  return settings_.job.observed() ? kReports : std::chrono::seconds{0};
}

void Launcher::end_job(Cause cause, int code, std::string message) {
  if (cause_ != Cause::kNone) return;
  cause_ = cause;
  cause_code_ = code;
  cause_message_ = std::move(message);
}

void Launcher::kill_node() {
  node_.signal_group(SIGKILL);
  kill_at_.reset();
}

void Launcher::drain_after_death() {
  // First the descendants: a forked child of a rank holds the channels open as well.
  node_.reap_all();
  kill_at_ = Clock::now() + kDrain;
  const auto open = [&] { return control_open_ || pipe_open_[0] || pipe_open_[1]; };
  const auto wanted = [&] {
    return cause_ != Cause::kOutputGone && cause_ != Cause::kOutputFailed && interrupts_ < 2;
  };
  while (open() && wanted() && (kill_at_ || output_.congested())) poll_once();
}

std::string Launcher::unfinished_ranks() const {
  std::vector<std::pair<int, int>> ranges;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!ended_[static_cast<std::size_t>(rank)]) ranges.emplace_back(rank, 1);
  }
  return rank_ranges(ranges);
}

std::string Launcher::describe_dead_node() const {
  const int status = node_.status();
  const std::string who =
      fmt::format("the node process on host {} (pid {}), with {},", host_, node_.pid(), unfinished_ranks());
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format(
        "{} was killed by signal {} ({}){}", who, signal, strsignal(signal),
        signal == SIGKILL ? "; somebody sent it, or the kernel was out of memory (see dmesg)" : "");
  }
  return fmt::format(
      "{} ended with exit code {} before its ranks had; a rank called _exit or the like past tmpi", who,
      WEXITSTATUS(status));
}

int Launcher::finish() {
  output_.finish();
  int code = exit_code_;
  std::string message;
  if (cause_ != Cause::kNone) {
    code = cause_code_;
    message = cause_message_;
  } else if (!done_) {
    const int status = node_.status();
    code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : std::max(WEXITSTATUS(status), 1);
    message = describe_dead_node();
  } else if (failed_ranks_ > 0) {
    message = fmt::format("rank {} on host {} ended with exit code {}", first_failed_, host_, exit_code_);
    if (failed_ranks_ > 1)
      message += fmt::format(", the first of {} ranks with a non-zero one", failed_ranks_);
  }
  if (!message.empty())
    output_.message(fmt::format("tmpirun: {}{}", message, message.ends_with('\n') ? "" : "\n"));
  // A stuck reader keeps the rest of the output waiting; any signal ends the wait.
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
  if (cause_ == Cause::kNone && output_.sink(1).error() == EPIPE) code = 128 + SIGPIPE;
  return code & 0xff;
}

}  // namespace tmpi::launch
