#include "launch/neighbours/job_door.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "launch/neighbours/job_directory.hpp"

namespace tmpi::launch {
namespace {

constexpr std::string_view kEnding = ".job";
constexpr int kBacklog = 16;
constexpr std::size_t kPiece = 64 << 10;
constexpr long kLook = 100;  // milliseconds between two looks whether who asks has given up

std::string file_of(int job, std::string_view ending = kEnding) {
  return fmt::format("{}{}", job, ending);
}

// By way of the descriptor: however long the directory's own path is, and whatever is put in its place.
sockaddr_un address_of(int directory, const std::string& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/{}", directory, file);
  return address;
}

bool same_user(int socket) noexcept {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

// -1: nobody is there any more.
int connect_to(int directory, int job) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(directory, file_of(job));
  if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      same_user(fd))
    return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  if (error == ECONNREFUSED) unlinkat(directory, file_of(job).c_str(), 0);  // its tmpirun has been killed
  return -1;
}

std::vector<int> names_in(int directory) {
  std::vector<int> jobs;
  const int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = again >= 0 ? fdopendir(again) : nullptr;
  if (list == nullptr && again >= 0) close(again);
  if (list == nullptr) return jobs;
  while (const dirent* const entry = readdir(list)) {
    const std::string_view name = entry->d_name;
    int job = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), job);
    if (error == std::errc() && std::string_view(end) == kEnding) jobs.push_back(job);
  }
  closedir(list);
  std::ranges::sort(jobs);
  return jobs;
}

// Jobs whose tmpirun has been killed leave theirs. A process that is not seen may be in another container.
void remove_dead_ones(int directory) {
  for (const int job : names_in(directory)) {
    if (kill(job, 0) == 0 || errno != ESRCH) continue;
    if (const int fd = connect_to(directory, job); fd >= 0) close(fd);
  }
}

std::string program_of(int job) {
  std::string words(512, '\0');
  const int fd = ::open(fmt::format("/proc/{}/cmdline", job).c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd >= 0 ? read(fd, words.data(), words.size()) : 0;
  if (fd >= 0) close(fd);
  words.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  std::ranges::replace(words, '\0', ' ');
  return words.substr(0, words.find_last_not_of(' ') + 1);
}

}  // namespace

Result<void> JobDoor::open() {
  const Result<int> directory = JobDirectory::open_own_directory();
  if (!directory) return directory.failure();
  directory_ = *directory;
  remove_dead_ones(directory_);
  // Nobody sees the socket before it can be called: whose call is refused takes it for a dead job's.
  const std::string fresh = file_of(getpid(), ".door");
  unlinkat(directory_, fresh.c_str(), 0);  // of an earlier process with this number
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_un address = address_of(directory_, fresh);
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd, kBacklog) != 0 ||
      renameat(directory_, fresh.c_str(), directory_, file_of(getpid()).c_str()) != 0) {
    const Failure failure{
        fmt::format("cannot make a socket in {}: {}", JobDirectory::path(), strerror(errno))};
    if (fd >= 0) close(fd);
    return failure;
  }
  listener_ = fd;
  return {};
}

JobDoor::~JobDoor() {
  for (const Caller& caller : callers_) close(caller.fd);
  if (listener_ >= 0) {
    unlinkat(directory_, file_of(getpid()).c_str(), 0);
    close(listener_);
  }
  if (directory_ >= 0) close(directory_);
}

void JobDoor::answer(int number, std::string_view text) {
  const auto caller = std::ranges::find(callers_, number, &Caller::number);
  if (caller == callers_.end()) return;
  append_frame(caller->out, FrameType::kDoorAnswer, -1, 0, text.substr(0, kMaxPayload));
  flush(*caller);
}

void JobDoor::watch(std::vector<pollfd>& requests) const {
  if (listener_ >= 0) requests.push_back({listener_, POLLIN, 0});
  for (const Caller& caller : callers_)
    requests.push_back({caller.fd, static_cast<short>(POLLIN | (caller.out.empty() ? 0 : POLLOUT)), 0});
}

void JobDoor::serve(const pollfd* requests) {
  const bool called = listener_ >= 0 && (requests++)->revents != 0;
  for (Caller& caller : callers_) {
    const short events = (requests++)->revents;
    if ((events & POLLOUT) != 0) flush(caller);
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) receive(caller);
  }
  callers_.remove_if([](const Caller& caller) {
    if (caller.gone) close(caller.fd);
    return caller.gone;
  });
  if (called) take_callers();
}

void JobDoor::take_callers() {
  for (int fd; (fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
    if (same_user(fd)) {
      callers_.push_back({++last_number_, fd, {}, {}});
    } else {
      close(fd);
    }
  }
}

void JobDoor::receive(Caller& caller) {
  const ssize_t got = recv(caller.fd, caller.in.room(kPiece), kPiece, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    caller.gone = true;
    return;
  }
  caller.in.filled(static_cast<std::size_t>(got));
  Frame frame{};
  FrameReader::Status status;
  while ((status = caller.in.next(frame)) == FrameReader::Status::kFrame)
    question_(frame.header.type, caller.number);
  caller.gone = status == FrameReader::Status::kGarbage;
}

void JobDoor::flush(Caller& caller) {
  const ssize_t taken = send(caller.fd, caller.out.data(), caller.out.size(), MSG_NOSIGNAL);
  if (taken > 0) caller.out.erase(0, static_cast<std::size_t>(taken));
  if (taken < 0 && errno != EAGAIN && errno != EINTR) caller.gone = true;
}

Result<std::vector<int>> jobs_to_ask() {
  const Result<int> directory = JobDirectory::open_own_directory();
  if (!directory) return directory.failure();
  std::vector<int> jobs;
  for (const int job : names_in(*directory)) {
    if (const int fd = connect_to(*directory, job); fd >= 0) {
      jobs.push_back(job);
      close(fd);
    }
  }
  close(*directory);
  return jobs;
}

Result<AskedJob> AskedJob::find(int job) {
  if (job == 0) {
    const Result<std::vector<int>> jobs = jobs_to_ask();
    if (!jobs) return jobs.failure();
    if (jobs->empty())
      return Failure{
          fmt::format("no job of yours runs on this machine ({} knows none)", JobDirectory::path())};
    if (jobs->size() > 1) {
      std::string list;
      for (const int one : *jobs) list += fmt::format("\n  {}: {}", one, program_of(one));
      return Failure{fmt::format("{} jobs of yours run here; name one by its number:{}", jobs->size(), list)};
    }
    job = jobs->front();
  }
  const Result<int> directory = JobDirectory::open_own_directory();
  if (!directory) return directory.failure();
  const int fd = connect_to(*directory, job);
  close(*directory);
  if (fd < 0)
    return Failure{fmt::format(
        "{} is not the process id of a tmpirun of yours that runs on this machine ({} does not know "
        "it)",
        job, JobDirectory::path())};
  return AskedJob(job, fd);
}

AskedJob::AskedJob(AskedJob&& other) noexcept
    : job_(other.job_), fd_(std::exchange(other.fd_, -1)), in_(std::move(other.in_)) {}

AskedJob::~AskedJob() {
  if (fd_ >= 0) close(fd_);
}

Result<std::string> AskedJob::ask(FrameType question, int seconds, bool (*given_up)()) {
  const Failure ended{fmt::format("the job of tmpirun's process {} has ended", job_)};
  std::string out;
  append_frame(out, question, -1, 0, {});
  if (send(fd_, out.data(), out.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(out.size())) return ended;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    Frame frame{};
    if (in_.next(frame) == FrameReader::Status::kFrame) return std::string(frame.payload);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (given_up != nullptr && given_up()) return Failure{};
    pollfd request{fd_, POLLIN, 0};
    const int ready = left > 0 ? poll(&request, 1, static_cast<int>(std::min<long>(left, kLook))) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && left > kLook) continue;
    if (ready <= 0)
      return Failure{
          fmt::format("the job of tmpirun's process {} has not answered within {} seconds: a node "
                      "process of it, or a host, is stopped or very busy",
                      job_, seconds)};
    const ssize_t got = recv(fd_, in_.room(kPiece), kPiece, 0);
    if (got <= 0) return ended;
    in_.filled(static_cast<std::size_t>(got));
  }
}

}  // namespace tmpi::launch
