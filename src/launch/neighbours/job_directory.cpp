#include "launch/neighbours/job_directory.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <pwd.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/whole_file.hpp"
#include "launch/neighbours/own_socket.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kLock = ".lock";
constexpr const char* kSocket = ".sock";
constexpr const char* kNames = ".names";
constexpr std::size_t kDigits = 16;
constexpr std::size_t kMostBytes = 16u << 20;  // of a file of names

std::string text_of(std::uint64_t job) {
  return fmt::format("{:016x}", job);
}

std::string read_all(const Fd& fd) {
  std::string bytes;
  char piece[4096];
  for (ssize_t got; (got = read(fd.get(), piece, sizeof piece)) > 0 && bytes.size() < kMostBytes;)
    bytes.append(piece, static_cast<std::size_t>(got));
  return bytes;
}

}  // namespace

std::string JobDirectory::path() {
  const char* const runtime = getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return std::string(runtime) + "/tmpi";
  const char* const temporary = getenv("TMPDIR");
  return fmt::format("{}/tmpi-{}", temporary != nullptr && *temporary == '/' ? temporary : "/tmp", geteuid());
}

JobDirectory::~JobDirectory() {
  // The lock last: while it is held nobody takes the others for a dead job's.
  if (lock_) {
    for (const char* kind : {kSocket, kNames, kLock}) unlinkat(directory_.get(), file(kind).c_str(), 0);
  }
}

std::string JobDirectory::file(const char* kind) const {
  return text_of(job_) + kind;
}

Result<Fd> JobDirectory::open_own_directory() {
  const std::string where = path();
  if (mkdir(where.c_str(), 0700) != 0 && errno != EEXIST)
    return Failure{fmt::format("the directory {}, by which jobs find each other, cannot be made: {}", where,
                               strerror(errno))};
  Fd fd(open(where.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd)
    return Failure{fmt::format("the directory {}, by which jobs find each other, cannot be opened: {}", where,
                               strerror(errno))};
  struct stat found {};
  if (fstat(fd.get(), &found) != 0 || found.st_uid != geteuid() || (found.st_mode & 077) != 0) {
    const passwd* const owner = getpwuid(found.st_uid);
    return Failure{fmt::format(
        "the directory {}, by which jobs find each other, belongs to {} (user {}, mode {:o}); it must be "
        "yours and "
        "closed to everybody else (mode 0700). Remove it, or set XDG_RUNTIME_DIR or TMPDIR to a directory of "
        "yours",
        where, owner != nullptr ? owner->pw_name : "somebody", found.st_uid, found.st_mode & 07777)};
  }
  return fd;
}

Result<void> JobDirectory::enter() {
  if (directory_) return {};
  Result<Fd> opened = open_own_directory();
  if (!opened) return opened.failure();
  directory_ = *std::move(opened);
  return {};
}

// Whose lock nobody holds has ended without having taken its files along. Shared: several may ask at a time.
bool JobDirectory::alive(const std::string& job) const {
  const std::string name = job + kLock;
  const Fd fd(openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return false;
  const bool held = flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
  if (!held) {
    for (const char* kind : {kSocket, kNames, kLock}) unlinkat(directory_.get(), (job + kind).c_str(), 0);
  }
  return held;
}

Result<void> JobDirectory::announce() {
  if (listener_) return {};
  if (Result<void> entered = enter(); !entered) return entered;
  const auto cannot = [](const char* what) {
    return Failure{
        fmt::format("cannot {} in {}, by which jobs find each other: {}", what, path(), strerror(errno))};
  };
  for (const std::string& other : others()) (void)alive(other);
  // Nobody sees the lock before it is held.
  const std::string fresh = file(".new");
  Fd lock(openat(directory_.get(), fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock) return cannot("make a file");
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0 ||
      renameat(directory_.get(), fresh.c_str(), directory_.get(), file(kLock).c_str()) != 0) {
    const Failure failure = cannot("lock a file");
    unlinkat(directory_.get(), fresh.c_str(), 0);
    return failure;
  }
  listener_ = listen_at(directory_, file(kSocket));
  if (!listener_) {
    const Failure failure = cannot("make a socket");
    for (const char* kind : {kSocket, kLock}) unlinkat(directory_.get(), file(kind).c_str(), 0);
    return failure;
  }
  lock_ = std::move(lock);
  return {};
}

std::vector<std::string> JobDirectory::others() const {
  std::vector<std::string> jobs;
  for (const std::string& name : files_in(directory_)) {
    if (name.size() == kDigits + std::string_view(kLock).size() && name.ends_with(kLock) &&
        !name.starts_with(text_of(job_)))
      jobs.push_back(name.substr(0, kDigits));
  }
  return jobs;
}

Result<void> JobDirectory::publish(const std::vector<std::pair<std::string, std::string>>& names) {
  if (names.empty() && !published_) return {};
  if (Result<void> announced = announce(); !announced) return announced;
  Packer packer;
  packer.text(network_);
  packer.text(name_);
  packer.number(static_cast<std::int64_t>(names.size()));
  for (const auto& [name, stands_for] : names) {
    packer.text(name);
    packer.text(stands_for);
  }
  const std::string fresh = file(".new");
  const Fd fd(
      openat(directory_.get(), fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd || !write_whole(fd.get(), packer.bytes().data(), packer.bytes().size()) ||
      renameat(directory_.get(), fresh.c_str(), directory_.get(), file(kNames).c_str()) != 0)
    return Failure{
        fmt::format("the names that are published cannot be written to {}: {}", path(), strerror(errno))};
  published_ = true;
  return {};
}

Result<std::string> JobDirectory::look_up(std::string_view name) {
  if (const Result<void> entered = enter(); !entered) return entered.failure();
  std::string found, publishers;
  int count = 0;
  for (const std::string& job : others()) {
    const Fd fd(openat(directory_.get(), (job + kNames).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) continue;
    const std::string bytes = read_all(fd);
    Unpacker unpacker(bytes);
    const bool here = unpacker.text() == network_;
    const std::string publisher = unpacker.text();
    for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok() && here; --left) {
      const std::string one = unpacker.text();
      std::string stands_for = unpacker.text();
      if (!unpacker.ok() || one != name || !alive(job)) continue;
      found = std::move(stands_for);
      publishers += (count++ == 0 ? "" : " and ") + publisher;
    }
  }
  if (count == 1) return found;
  if (count == 0)
    return Failure{
        fmt::format("nobody in this job has published the name \"{}\", nor in another job of yours on this "
                    "machine ({})",
                    name, path())};
  return Failure{
      fmt::format("the name \"{}\" is published by several jobs of yours: {}; end all but one, or publish "
                  "under names that differ",
                  name, publishers)};
}

Result<Fd> JobDirectory::call(std::uint64_t job) {
  if (const Result<void> entered = enter(); !entered) return entered.failure();
  const std::string text = text_of(job);
  if (!alive(text))
    return Failure{
        fmt::format("has ended, or is not a job of yours on this machine: {} does not know it", path())};
  Fd fd = connect_to(directory_, text + kSocket, Waiting::kNever);
  if (!fd) return Failure{fmt::format("does not answer in {}: {}", path(), strerror(errno))};
  return fd;
}

}  // namespace tmpi::launch
