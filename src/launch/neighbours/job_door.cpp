#include "launch/neighbours/job_door.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "launch/neighbours/job_directory.hpp"
#include "launch/neighbours/own_socket.hpp"

namespace tmpi::launch {
namespace {

constexpr std::string_view kEnding = ".job";
constexpr long kLook = 100;  // milliseconds between two looks whether who asks has given up

std::string file_of(int job, std::string_view ending = kEnding) {
  return fmt::format("{}{}", job, ending);
}

// None: nobody is there any more.
Fd connect_to_job(const Fd& directory, int job) {
  Fd fd = connect_to(directory, file_of(job), Waiting::kForData);
  if (!fd && errno == ECONNREFUSED)
    unlinkat(directory.get(), file_of(job).c_str(), 0);  // its tmpirun has been killed
  return fd;
}

std::vector<int> jobs_in(const Fd& directory) {
  std::vector<int> jobs;
  for (const std::string& name : files_in(directory)) {
    int job = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), job);
    if (error == std::errc() && std::string_view(end) == kEnding) jobs.push_back(job);
  }
  std::ranges::sort(jobs);
  return jobs;
}

// Jobs whose tmpirun has been killed leave theirs. A process that is not seen may be in another container.
void remove_dead_ones(const Fd& directory) {
  for (const int job : jobs_in(directory)) {
    if (kill(job, 0) != 0 && errno == ESRCH) connect_to_job(directory, job);
  }
}

std::string program_of(int job) {
  std::string words(512, '\0');
  const Fd fd(::open(fmt::format("/proc/{}/cmdline", job).c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = fd ? read(fd.get(), words.data(), words.size()) : 0;
  words.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  std::ranges::replace(words, '\0', ' ');
  return words.substr(0, words.find_last_not_of(' ') + 1);
}

}  // namespace

Result<void> JobDoor::open() {
  Result<Fd> directory = JobDirectory::open_own_directory();
  if (!directory) return directory.failure();
  directory_ = *std::move(directory);
  remove_dead_ones(directory_);
  // Nobody sees the socket before it can be called: whose call is refused takes it for a dead job's.
  const std::string fresh = file_of(getpid(), ".door");
  unlinkat(directory_.get(), fresh.c_str(), 0);  // of an earlier process with this number
  Fd listener = listen_at(directory_, fresh);
  if (!listener ||
      renameat(directory_.get(), fresh.c_str(), directory_.get(), file_of(getpid()).c_str()) != 0)
    return Failure{fmt::format("cannot make a socket in {}: {}", JobDirectory::path(), strerror(errno))};
  listener_ = std::move(listener);
  return {};
}

JobDoor::~JobDoor() {
  if (listener_) unlinkat(directory_.get(), file_of(getpid()).c_str(), 0);
}

void JobDoor::answer(int caller, std::string_view text) {
  tell(caller, 0, text);
}

void JobDoor::refuse(int caller, std::string_view why) {
  tell(caller, kDoorRefused, why);
}

void JobDoor::tell(int number, std::uint16_t detail, std::string_view text) {
  const auto caller = std::ranges::find(callers_, number, &Caller::number);
  if (caller == callers_.end()) return;
  caller->channel.send(FrameType::kDoorAnswer, -1, detail, text.substr(0, kMaxPayload));
}

void JobDoor::watch(std::vector<pollfd>& requests) const {
  if (listener_) requests.push_back({listener_.get(), POLLIN, 0});
  for (const Caller& caller : callers_) {
    const bool sending = caller.channel.wants_to_send();
    requests.push_back({caller.channel.in(), static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), 0});
  }
}

void JobDoor::serve(const pollfd* requests) {
  const bool called = listener_ && (requests++)->revents != 0;
  for (Caller& caller : callers_) {
    const short events = (requests++)->revents;
    if ((events & POLLOUT) != 0) caller.gone = !caller.channel.flush();
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) receive(caller);
  }
  callers_.remove_if([](const Caller& caller) { return caller.gone; });
  if (!called) return;
  for (Fd fd; (fd = accept_own(listener_));) callers_.push_back({++last_number_, Channel(std::move(fd))});
}

void JobDoor::receive(Caller& caller) {
  const Channel::Received received = caller.channel.receive();
  caller.gone |= received == Channel::Received::kEnd;
  if (received != Channel::Received::kSomething) return;
  Frame frame{};
  FrameReader::Status status;
  while ((status = caller.channel.next(frame)) == FrameReader::Status::kFrame)
    question_(frame.header.type, frame.payload, caller.number);
  caller.gone |= status == FrameReader::Status::kGarbage;
}

Result<std::vector<int>> jobs_to_ask() {
  const Result<Fd> directory = JobDirectory::open_own_directory();
  if (!directory) return directory.failure();
  std::vector<int> jobs;
  for (const int job : jobs_in(*directory)) {
    if (connect_to_job(*directory, job)) jobs.push_back(job);
  }
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
  const Result<Fd> directory = JobDirectory::open_own_directory();
  if (!directory) return directory.failure();
  Fd fd = connect_to_job(*directory, job);
  if (!fd)
    return Failure{fmt::format(
        "{} is not the process id of a tmpirun of yours that runs on this machine ({} does not know "
        "it)",
        job, JobDirectory::path())};
  return AskedJob(job, Channel(std::move(fd)));
}

Result<std::string> AskedJob::ask(FrameType question, int seconds, bool (*given_up)(),
                                  std::string_view about) {
  const Failure ended{fmt::format("the job of tmpirun's process {} has ended", job_)};
  channel_.send(question, -1, 0, about);  // an end shows when it is read
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    Frame frame{};
    if (channel_.next(frame) == FrameReader::Status::kFrame) {
      if (frame.header.detail == kDoorRefused) return Failure{std::string(frame.payload)};
      return std::string(frame.payload);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (given_up != nullptr && given_up()) return Failure{};
    pollfd request{channel_.in(), POLLIN, 0};
    const int ready = left > 0 ? poll(&request, 1, static_cast<int>(std::min<long>(left, kLook))) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && left > kLook) continue;
    if (ready <= 0)
      return Failure{
          fmt::format("the job of tmpirun's process {} has not answered within {} seconds: a node "
                      "process of it, or a host, is stopped or very busy",
                      job_, seconds)};
    if (channel_.receive() == Channel::Received::kEnd) return ended;
  }
}

}  // namespace tmpi::launch
