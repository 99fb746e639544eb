#include "launch/control/control.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

namespace tmpi::launch {

namespace {

constexpr std::chrono::milliseconds kLookForSilence{1000};
constexpr std::size_t kMostUnsent = 4 << 20;     // of an end report
constexpr std::chrono::seconds kMostSilence{5};  // of a tmpirun on another machine

Control* the_control = nullptr;

/// Reads one byte of each page, so that a rank's wild pointer faults here and not while the outbox is locked.
void touch(const char* data, std::size_t length) {
  for (std::size_t at = 0; at < length; at += 4096)
    static_cast<void>(*static_cast<const volatile char*>(data + at));
  static_cast<void>(*static_cast<const volatile char*>(data + length - 1));
}

}  // namespace

Control& Control::create(ControlChannel channel, StateDump (*state_dump)(),
                         Stacks (*stacks)(const StateDump& dump)) {
  // Lives as long as the process, and not on the heap: a rank that has overwritten that must still be reported.
  alignas(Control) static std::byte place[sizeof(Control)];
  the_control =
      new (place) Control(std::move(channel), Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), state_dump, stacks);
  return *the_control;
}

Control* Control::instance() noexcept {
  return the_control;
}

Control::Control(ControlChannel channel, Fd wake, StateDump (*state_dump)(),
                 Stacks (*stacks)(const StateDump& dump))
    : channel_(std::move(channel)),
      wake_(std::move(wake)),
      state_dump_(state_dump),
      stacks_(stacks),
      outbox_(wake_.get()),
      input_([](int rank) { the_control->send(FrameType::kStdinWanted, rank, 0, {}); }) {
  sending_.reserve(Outbox::kReserved);  // it changes places with the outbox's
}

void Control::start() {
  // Signals for the program are for its ranks' threads; what its own instructions cause is the control thread's.
  sigset_t others;
  sigset_t before;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP}) sigdelset(&others, own);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  pthread_t thread;
  if (const int error = pthread_create(&thread, nullptr, &Control::thread_main, this); error != 0) {
    // This thread says so, as that one would have.
    report_end(
        EndKind::kStartFailed, -1, 1,
        fmt::format("the node process cannot start a thread: {}; is the limit on processes (ulimit -u) or "
                    "on memory (ulimit -v) reached?",
                    strerror(error)));
    loop();
  }
  pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void* Control::thread_main(void* self) {
  pthread_setname_np(pthread_self(), "tmpi-control");
  static_cast<Control*>(self)->thread_.store(pthread_self(), std::memory_order_relaxed);
  static_cast<Control*>(self)->loop();
  return nullptr;
}

void Control::loop() {
  out_ = channel_.attached() ? -1 : channel_.channel().out();
  on_frames();  // that came together with the job
  for (;;) {
    const bool ending = end_.ready() || finished_.load(std::memory_order_acquire);
    if (sending_.size() == sent_) fill_sending();
    // finished_ and end_ were read before the last take, so nothing that came before them is left behind.
    if (sending_.empty() && ending) leave();
    const bool had_work = !sending_.empty();
    transmit();
    const bool stuck = sent_ < sending_.size();
    // The wake-up for what came during transmit() may have been read already: sleep only after a look that
    // found nothing.
    const int timeout = had_work && !stuck ? 0 : this->timeout();
    pollfd requests[4] = {{channel_.channel().in(), POLLIN, 0},
                          {stuck ? channel_.channel().out() : -1, POLLOUT, 0},
                          {wake_.get(), POLLIN, 0},
                          {stuck ? -1 : pipe_, POLLIN, 0}};  // read by fill_sending()
    if (poll(requests, 4, timeout) < 0) continue;
    if (requests[0].revents != 0) receive();
    check_silence();
    hand_over_early_worlds();
    if (requests[2].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake_.get(), &count, sizeof(count));
    }
  }
}

// Everything before was sent.
void Control::fill_sending() {
  sending_.clear();
  sent_ = 0;
  outbox_.take(sending_);
  if (end_.ready() && !end_sent_) {
    // Without a piece of memory of its own: this may be the news that there is none.
    const EndRecord record{end_.code()};
    append_record(sending_,
                  FrameHeader{static_cast<std::uint32_t>(sizeof record + end_.length()), FrameType::kEnd,
                              static_cast<std::uint16_t>(end_.kind()), end_.rank()});
    append_record(sending_, record);
    sending_.append(end_.text(), end_.length());
    end_sent_ = true;
  }
  on_pipe();
  watch();
  if (sending_.empty() && end_.ready()) append_end_report();
}

void Control::forward(int pipe, int stream) {
  pipe_ = pipe;
  pipe_stream_ = stream;
  fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) | O_NONBLOCK);
}

// Behind what is being sent, as append_end_report().
void Control::on_pipe() {
  if (pipe_ < 0) return;
  char buffer[16 << 10];
  for (int round = 0; round < 4; ++round) {
    const ssize_t got = read(pipe_, buffer, sizeof(buffer));
    if (got <= 0) return;
    append_frame(sending_, FrameType::kOutput, -1, static_cast<std::uint16_t>(pipe_stream_),
                 std::string_view(buffer, static_cast<std::size_t>(got)));
  }
}

// The connection to another machine may be dead with no end of the stream. Only time in which this process has
// listened counts: it may have been stopped itself, or its machine, and with it what carries the heartbeats.
void Control::check_silence() {
  if (!heard_) return;
  const auto now = std::chrono::steady_clock::now();
  silence_ += std::min<std::chrono::steady_clock::duration>(now - *heard_, 2 * kLookForSilence);
  heard_ = now;
  if (silence_ > kMostSilence) abandoned();
}

int Control::timeout() const {
  if (heard_) return static_cast<int>(kLookForSilence.count());
  if (watch_.load(std::memory_order_relaxed) == nullptr) return -1;
  return static_cast<int>(std::chrono::milliseconds(kWatchPeriod).count());
}

// Behind what is being sent, as append_end_report().
void Control::watch() {
  const auto watch = watch_.load(std::memory_order_acquire);
  const auto now = std::chrono::steady_clock::now();
  if (watch == nullptr || end_.ready() || now - watched_ < kWatchPeriod) return;
  watched_ = now;
  if (const std::string text = watch(); !text.empty())
    append_frame(sending_, FrameType::kNotice, -1, static_cast<std::uint16_t>(NoticeKind::kHeldCores), text);
}

void Control::leave() {
  const int code = end_.ready() ? end_.code() & 0xff : 0;
  _exit(channel_.close(code));
}

// Straight behind what is being sent, not through the outbox: this thread must never wait for room there.
void Control::append_end_report() {
  if (end_report_ == nullptr) return;
  std::exchange(end_report_, nullptr)([this](FrameType type, std::uint16_t detail, std::string_view payload) {
    append_frame(sending_, type, -1, detail, payload);
    if (sending_.size() - sent_ > kMostUnsent) transmit_most();
  });
}

// A trace is as large as its events were in memory: it goes out while it is written.
void Control::transmit_most() {
  for (transmit(); sending_.size() - sent_ > kMostUnsent / 2; transmit()) {
    pollfd room{channel_.channel().out(), POLLOUT, 0};
    poll(&room, 1, 100);
  }
  sending_.erase(0, std::exchange(sent_, 0));
}

void Control::transmit() {
  if (sent_ == sending_.size()) return;
  const ssize_t taken = channel_.send(std::string_view(sending_).substr(sent_));
  if (taken < 0) abandoned();
  sent_ += static_cast<std::size_t>(taken);
}

void Control::receive() {
  if (!channel_.receive()) abandoned();
  on_frames();
}

void Control::on_frames() {
  Frame frame{};
  FrameReader::Status status;
  while ((status = channel_.next(frame)) == FrameReader::Status::kFrame) on_frame(frame);
  if (status == FrameReader::Status::kGarbage) abandoned();
}

void Control::on_frame(const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::kStdin:
      return input_.deliver(frame.payload);
    case FrameType::kSignal:
      return on_signal(frame.header.detail);
    case FrameType::kStateDumpWanted:
      return on_state_dump_wanted(frame.header.detail);
    case FrameType::kAddresses:
      return on_addresses(frame.payload);
    case FrameType::kEndNow:
      return report_end(EndKind::kOrdered, -1, 0, {});
    case FrameType::kHeartbeat:
      heard_.reset();
      silence_ = {};
      if (frame.header.detail == 0) heard_ = std::chrono::steady_clock::now();
      return;
    case FrameType::kStillQuiescent:
    case FrameType::kWaitForEdgesWanted:
    case FrameType::kExplain:
      if (quiescence_handler_ != nullptr) quiescence_handler_(frame, sending_);
      return;
    case FrameType::kWorld:
    case FrameType::kWorldStart:
    case FrameType::kWayPrepare:
    case FrameType::kWayJoin:
    case FrameType::kWayEnd:
      return on_world(frame);
    case FrameType::kCheckpointNow:
      if (checkpoint_handler_ != nullptr) checkpoint_handler_();
      return;
    case FrameType::kPortReply:
      if (const auto handler = port_handler_.load(std::memory_order_acquire)) handler(frame);
      return;
    default:
      return;  // of a newer tmpirun; the hello has compared versions
  }
}

void Control::on_world(const Frame& frame) {
  hand_over_early_worlds();
  if (const auto handler = world_handler_.load(std::memory_order_acquire)) return handler(frame);
  early_worlds_.emplace_back(frame.header, frame.payload);
}

void Control::hand_over_early_worlds() {
  if (early_worlds_.empty()) return;
  const auto handler = world_handler_.load(std::memory_order_acquire);
  if (handler == nullptr) return;
  for (const auto& [header, payload] : std::exchange(early_worlds_, {})) handler(Frame{header, payload});
}

void Control::on_state_dump_wanted(std::uint16_t detail) {
  if (detail == kStateDumpThenKill) append_end_report();
  if (detail > kStateDumpUnlessHandled && give_to_ranks(detail - kStateDumpUnlessHandled))
    return append_frame(sending_, FrameType::kStateDump, -1, 1, {});
  const StateDump dump = state_dump_();
  if (detail == kStateDumpFigures) {
    append_frame(sending_, FrameType::kFigures, -1, 0, packed(figures_()));
  } else if (const std::string stacks = pack(stacks_(dump)); stacks.size() <= kMaxPayload) {
    append_frame(sending_, FrameType::kStacks, -1, 0, stacks);
  }
  append_frame(sending_, FrameType::kStateDump, -1, 0, pack(dump));
}

bool Control::give_to_ranks(int signal) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN ||
      action.sa_handler == SIG_DFL)
    return false;
  kill(getpid(), signal);  // a rank's thread takes it: this one blocks all signals
  return true;
}

void Control::on_signal(int signal) {
  struct sigaction action {};
  if (give_to_ranks(signal) || signal == SIGCONT) return;
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  report_end(EndKind::kSignalled, -1, 128 + signal, {});
}

void Control::on_addresses(std::string_view payload) {
  Unpacker unpacker(payload);
  Addresses all;
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    std::string address = unpacker.text();
    all.peers.push_back({std::move(address), unpacker.text()});
  }
  all.workers = static_cast<int>(unpacker.number());
  const std::lock_guard lock(addresses_mutex_);
  addresses_ = std::move(all);
  addresses_known_.notify_all();
}

Control::Addresses Control::await_addresses() {
  std::unique_lock lock(addresses_mutex_);
  addresses_known_.wait(lock, [&] { return addresses_.has_value(); });
  return *std::exchange(addresses_, std::nullopt);
}

void Control::notice(NoticeKind kind, std::string_view text) {
  send(FrameType::kNotice, -1, static_cast<std::uint16_t>(kind), text);
}

ssize_t Control::write_output(int rank, int stream, const void* data, std::size_t length) {
  if (length == 0) return 0;
  const char* bytes = static_cast<const char*>(data);
  for (std::size_t done = 0; done < length;) {
    const std::size_t chunk = std::min<std::size_t>(length - done, kMaxOutputPayload);
    touch(bytes + done, chunk);
    send(FrameType::kOutput, rank, static_cast<std::uint16_t>(stream), std::string_view(bytes + done, chunk));
    done += chunk;
  }
  return static_cast<ssize_t>(length);
}

void Control::report_end(EndKind kind, int rank, int code, std::string_view text) {
  char* buffer = end_.claim();
  if (buffer == nullptr) return;
  const std::size_t length = std::min(text.size(), EndReason::kCapacity);
  memcpy(buffer, text.data(), length);
  end_.publish(kind, rank, code, length);
  wake();
}

void Control::end_job(EndKind kind, int rank, int code, std::string_view text) {
  report_end(kind, rank, code, text);
  wait_for_exit();
}

void Control::wake() noexcept {
  const std::uint64_t one = 1;
  // A rank has closed it, and nobody can be told anything any more: poll() does not notice.
  if (::write(wake_.get(), &one, sizeof(one)) < 0 && errno == EBADF) abandoned();
}

bool Control::on_control_thread() const noexcept {
  return pthread_equal(thread_.load(std::memory_order_relaxed), pthread_self()) != 0;
}

bool Control::can_report() const noexcept {
  return thread_.load(std::memory_order_relaxed) != 0 && !on_control_thread();
}

void Control::leave_crashed(int code) noexcept {
  // Who claimed the report may still be wording it.
  for (int i = 0; i < 100 && !end_.ready(); ++i) usleep(10'000);
  const bool whole = put(sending_.data() + sent_, sending_.size() - sent_);
  if (!end_sent_ && end_.ready()) {
    const EndRecord record{end_.code()};
    const FrameHeader header{static_cast<std::uint32_t>(sizeof record + end_.length()), FrameType::kEnd,
                             static_cast<std::uint16_t>(end_.kind()), end_.rank()};
    if (whole && put(&header, sizeof header) && put(&record, sizeof record)) put(end_.text(), end_.length());
  }
  _exit(end_.ready() ? end_.code() & 0xff : code);
}

bool Control::put(const void* bytes, std::size_t length) const noexcept {
  for (const char* at = static_cast<const char*>(bytes); length > 0;) {
    const ssize_t done = ::write(out_, at, length);
    if (done < 0 && errno == EAGAIN) {
      pollfd request{out_, POLLOUT, 0};
      poll(&request, 1, -1);
    } else if (done < 0 && errno != EINTR) {
      return false;
    } else if (done > 0) {
      at += done;
      length -= static_cast<std::size_t>(done);
    }
  }
  return true;
}

void Control::wait_for_exit() noexcept {
  for (;;) pause();
}

void Control::finish(std::string_view balance) {
  send(FrameType::kDone, -1, 0, balance);
  finished_.store(true, std::memory_order_release);  // partner: the acquire in loop()
  wake();
  wait_for_exit();
}

// Most likely tmpirun is gone: nothing of the job may stay, children of ranks included. If it is there, it must not
// take that for a signal of somebody else's. Several threads may come here at once (each that finds its descriptors
// closed); the process leaves its group once, for from then on its group is tmpirun's.
void Control::abandoned() {
  static std::atomic_flag begun;
  if (begun.test_and_set()) wait_for_exit();
  const pid_t group = getpgrp();
  if (setpgid(0, getpgid(getppid())) == 0 && getpgrp() != group) {
    kill(-group, SIGKILL);
    _exit(kExitLostChannel);
  }
  kill(0, SIGKILL);
  _exit(kExitLostChannel);
}

}  // namespace tmpi::launch
