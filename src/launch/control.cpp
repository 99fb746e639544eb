#include "launch/control.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace tmpi::launch {

namespace {

constexpr std::size_t kReadSize = 64 << 10;

Control* the_control = nullptr;

/// Reads one byte of each page, so that a rank's wild pointer faults here and not while the outbox is locked.
void touch(const char* data, std::size_t length) {
  for (std::size_t at = 0; at < length; at += 4096)
    static_cast<void>(*static_cast<const volatile char*>(data + at));
  static_cast<void>(*static_cast<const volatile char*>(data + length - 1));
}

}  // namespace

Control& Control::create(int fd, std::vector<PictureEntry> (*picture)()) {
  the_control =
      new Control(fd, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), picture);  // lives as long as the process
  return *the_control;
}

Control* Control::instance() noexcept {
  return the_control;
}

Control::Control(int fd, int wake_fd, std::vector<PictureEntry> (*picture)())
    : fd_(fd), wake_fd_(wake_fd), picture_(picture), outbox_(wake_fd), input_([] {
        the_control->send(FrameType::kStdinWanted, 0, 0, {});
      }) {
  fcntl(fd_, F_SETFD, FD_CLOEXEC);
}

Result<JobSpec> Control::receive_job() {
  std::string hello;
  append_record(hello, HelloRecord{kWireMagic, kWireVersion, static_cast<std::int32_t>(getpid())});
  send(FrameType::kHello, -1, 0, hello);
  for (;;) {
    Frame frame{};
    switch (incoming_.next(frame)) {
      case FrameReader::Status::kFrame:
        if (frame.header.type != FrameType::kJob) break;
        return unpack_job(frame.payload);
      case FrameReader::Status::kGarbage:
        break;
      case FrameReader::Status::kIncomplete: {
        char* room = incoming_.room(kReadSize);
        const ssize_t got = read(fd_, room, kReadSize);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return Failure{"tmpirun closed the control channel before it sent a job"};
        incoming_.filled(static_cast<std::size_t>(got));
        continue;
      }
    }
    return Failure{
        "the control channel does not speak tmpi's protocol; tmpi-node is started by tmpirun, not by hand"};
  }
}

void Control::start() {
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
  // Signals for the program are for its ranks' threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (const int error = pthread_create(&thread, nullptr, &Control::thread_main, this); error != 0) {
    fmt::print(stderr,
               "tmpi-node: cannot start a thread: {}; is the limit on processes (ulimit -u) reached?\n",
               strerror(error));
    _exit(1);
  }
  pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void* Control::thread_main(void* self) {
  pthread_setname_np(pthread_self(), "tmpi-control");
  static_cast<Control*>(self)->loop();
  return nullptr;
}

void Control::loop() {
  for (;;) {
    const bool ending = end_.ready() || finished_.load(std::memory_order_acquire);
    if (sending_.size() == sent_) {
      sending_.clear();
      sent_ = 0;
      outbox_.take(sending_);
      if (end_.ready() && !end_sent_) {
        std::string payload;
        append_record(payload, EndRecord{end_.code()});
        payload.append(end_.text(), end_.length());
        append_frame(sending_, FrameType::kEnd, end_.rank(), static_cast<std::uint16_t>(end_.kind()),
                     payload);
        end_sent_ = true;
      }
      if (sending_.empty() && end_.ready()) append_last_words();
      // finished_ and end_ were read before the last take, so nothing that came before them is left behind.
      if (sending_.empty() && ending) _exit(end_.ready() ? end_.code() & 0xff : 0);
    }
    const bool had_work = !sending_.empty();
    transmit();
    const bool stuck = sent_ < sending_.size();
    // The wake-up for what came during transmit() may have been read already: sleep only after a look that
    // found nothing.
    const int timeout = had_work && !stuck ? 0 : -1;
    pollfd requests[2] = {{fd_, static_cast<short>(POLLIN | (stuck ? POLLOUT : 0)), 0},
                          {wake_fd_, POLLIN, 0}};
    if (poll(requests, 2, timeout) < 0) continue;
    if ((requests[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive();
    if (requests[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake_fd_, &count, sizeof(count));
    }
  }
}

// Straight behind what is being sent, not through the outbox: this thread must never wait for room there.
void Control::append_last_words() {
  if (last_words_ == nullptr) return;
  for (const std::string& text : std::exchange(last_words_, nullptr)())
    append_frame(sending_, FrameType::kNotice, -1, static_cast<std::uint16_t>(NoticeKind::kInfo), text);
}

void Control::transmit() {
  while (sent_ < sending_.size()) {
    const ssize_t done =
        ::send(fd_, sending_.data() + sent_, sending_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EAGAIN) return;
    if (done < 0) abandoned();
    sent_ += static_cast<std::size_t>(done);
  }
}

void Control::receive() {
  char* room = incoming_.room(kReadSize);
  const ssize_t got = read(fd_, room, kReadSize);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) abandoned();
  incoming_.filled(static_cast<std::size_t>(got));
  Frame frame{};
  FrameReader::Status status;
  while ((status = incoming_.next(frame)) == FrameReader::Status::kFrame) on_frame(frame);
  if (status == FrameReader::Status::kGarbage) abandoned();
}

void Control::on_frame(const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::kStdin:
      return input_.deliver(frame.payload);
    case FrameType::kSignal:
      return on_signal(frame.header.detail);
    case FrameType::kPictureWanted:
      if (frame.header.detail != 0) append_last_words();
      return append_frame(sending_, FrameType::kPicture, -1, 0, pack(picture_()));
    default:
      return;  // of a newer tmpirun; the hello has compared versions
  }
}

void Control::on_signal(int signal) {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  if (action.sa_handler != SIG_DFL) {
    kill(getpid(), signal);  // a rank's thread takes it: this one blocks all signals
    return;
  }
  if (signal == SIGUSR1) return;  // to tmpirun it means "show me the ranks"
  if (char* text = end_.claim()) {
    static_cast<void>(text);
    end_.publish(EndKind::kSignalled, -1, 128 + signal, 0);
  }
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

void Control::end_job(EndKind kind, int rank, int code, std::string_view text) {
  if (char* buffer = end_.claim()) {
    const std::size_t length = std::min(text.size(), EndReport::kCapacity);
    memcpy(buffer, text.data(), length);
    end_.publish(kind, rank, code, length);
    wake();
  }
  wait_for_exit();
}

void Control::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_, &one, sizeof(one));
}

void Control::wait_for_exit() noexcept {
  for (;;) pause();
}

void Control::finish() {
  send(FrameType::kDone, -1, 0, {});
  finished_.store(true, std::memory_order_release);  // partner: the acquire in loop()
  wake();
  wait_for_exit();
}

void Control::abandoned() {
  kill(0, SIGKILL);  // tmpirun is gone: nothing of the job may stay, children of ranks included
  _exit(1);
}

}  // namespace tmpi::launch
