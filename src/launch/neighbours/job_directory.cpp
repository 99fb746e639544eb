#include "launch/neighbours/job_directory.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <pwd.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "launch/wire/frames.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kLock = ".lock";
constexpr const char* kSocket = ".sock";
constexpr const char* kNames = ".names";
constexpr std::size_t kDigits = 16;
constexpr int kBacklog = 128;
constexpr std::size_t kMostBytes = 16u << 20;  // of a file of names

std::string text_of(std::uint64_t job) {
  return fmt::format("{:016x}", job);
}

// Kernel's word on who is at the other end.
bool same_user(int socket) noexcept {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

int stream_socket() noexcept {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

bool address_of(const std::string& path, sockaddr_un& address) noexcept {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::copy(path.begin(), path.end(), address.sun_path);
  return true;
}

std::string read_all(int fd) {
  std::string bytes;
  char piece[4096];
  for (ssize_t got; (got = read(fd, piece, sizeof piece)) > 0 && bytes.size() < kMostBytes;)
    bytes.append(piece, static_cast<std::size_t>(got));
  return bytes;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string JobDirectory::path() {
  const char* const runtime = getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return std::string(runtime) + "/tmpi";
  const char* const temporary = getenv("TMPDIR");
  return fmt::format("{}/tmpi-{}", temporary != nullptr && *temporary == '/' ? temporary : "/tmp", geteuid());
}

JobDirectory::~JobDirectory() {
  if (lock_ >= 0) {
    // The lock last: while it is held nobody takes the others for a dead job's.
    for (const char* kind : {kSocket, kNames, kLock}) unlinkat(directory_, file(kind).c_str(), 0);
    close(lock_);
  }
  if (listener_ >= 0) close(listener_);
  if (directory_ >= 0) close(directory_);
}

std::string JobDirectory::file(const char* kind) const {
  return text_of(job_) + kind;
}

// By way of the descriptor: however long the directory's own path is, and whatever is put in its place.
std::string JobDirectory::socket_path(const std::string& job) const {
  return fmt::format("/proc/self/fd/{}/{}{}", directory_, job, kSocket);
}

Result<int> JobDirectory::open_own_directory() {
  const std::string where = path();
  if (mkdir(where.c_str(), 0700) != 0 && errno != EEXIST)
    return Failure{fmt::format("the directory {}, by which jobs find each other, cannot be made: {}", where,
                               strerror(errno))};
  const int fd = open(where.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return Failure{fmt::format("the directory {}, by which jobs find each other, cannot be opened: {}", where,
                               strerror(errno))};
  struct stat found {};
  if (fstat(fd, &found) != 0 || found.st_uid != geteuid() || (found.st_mode & 077) != 0) {
    close(fd);
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
  if (directory_ >= 0) return {};
  const Result<int> opened = open_own_directory();
  if (!opened) return opened.failure();
  directory_ = *opened;
  return {};
}

// Whose lock nobody holds has ended without having taken its files along. Shared: several may ask at a time.
bool JobDirectory::alive(const std::string& job) const {
  const std::string name = job + kLock;
  const int fd = openat(directory_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  const bool held = flock(fd, LOCK_SH | LOCK_NB) != 0;
  if (!held) {
    for (const char* kind : {kSocket, kNames, kLock}) unlinkat(directory_, (job + kind).c_str(), 0);
  }
  close(fd);
  return held;
}

Result<void> JobDirectory::announce() {
  if (listener_ >= 0) return {};
  if (Result<void> entered = enter(); !entered) return entered;
  const auto cannot = [](const char* what) {
    return Failure{
        fmt::format("cannot {} in {}, by which jobs find each other: {}", what, path(), strerror(errno))};
  };
  for (const std::string& other : others()) (void)alive(other);
  // Nobody sees the lock before it is held.
  const std::string fresh = file(".new");
  const int lock =
      openat(directory_, fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock < 0) return cannot("make a file");
  if (flock(lock, LOCK_EX | LOCK_NB) != 0 ||
      renameat(directory_, fresh.c_str(), directory_, file(kLock).c_str()) != 0) {
    const Failure failure = cannot("lock a file");
    unlinkat(directory_, fresh.c_str(), 0);
    close(lock);
    return failure;
  }
  lock_ = lock;
  const int listening = stream_socket();
  sockaddr_un address;
  if (listening < 0 || !address_of(socket_path(text_of(job_)), address) ||
      bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listening, kBacklog) != 0) {
    const Failure failure = cannot("make a socket");
    if (listening >= 0) close(listening);
    for (const char* kind : {kSocket, kLock}) unlinkat(directory_, file(kind).c_str(), 0);
    close(std::exchange(lock_, -1));
    return failure;
  }
  listener_ = listening;
  return {};
}

int JobDirectory::accept_caller() const noexcept {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && errno == EINTR) continue;
    if (fd < 0 || same_user(fd)) return fd;
    close(fd);
  }
}

std::vector<std::string> JobDirectory::others() const {
  std::vector<std::string> jobs;
  const int again = openat(directory_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = again >= 0 ? fdopendir(again) : nullptr;
  if (list == nullptr) {
    if (again >= 0) close(again);
    return jobs;
  }
  while (const dirent* const entry = readdir(list)) {
    const std::string_view name = entry->d_name;
    if (name.size() == kDigits + std::string_view(kLock).size() && name.ends_with(kLock) &&
        name.substr(0, kDigits) != text_of(job_))
      jobs.emplace_back(name.substr(0, kDigits));
  }
  closedir(list);
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
  const int fd =
      openat(directory_, fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && write_all(fd, packer.bytes());
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!written || renameat(directory_, fresh.c_str(), directory_, file(kNames).c_str()) != 0)
    return Failure{fmt::format("the names that are published cannot be written to {}: {}", path(),
                               strerror(written ? errno : error))};
  published_ = true;
  return {};
}

Result<std::string> JobDirectory::look_up(std::string_view name) {
  if (const Result<void> entered = enter(); !entered) return entered.failure();
  std::string found, publishers;
  int count = 0;
  for (const std::string& job : others()) {
    const int fd = openat(directory_, (job + kNames).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    const std::string bytes = read_all(fd);
    close(fd);
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

Result<int> JobDirectory::call(std::uint64_t job) {
  if (const Result<void> entered = enter(); !entered) return entered.failure();
  const std::string text = text_of(job);
  sockaddr_un address;
  const int fd = alive(text) && address_of(socket_path(text), address) ? stream_socket() : -1;
  if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      same_user(fd))
    return fd;
  const int error = errno;
  if (fd < 0)
    return Failure{
        fmt::format("has ended, or is not a job of yours on this machine: {} does not know it", path())};
  close(fd);
  return Failure{fmt::format("does not answer in {}: {}", path(), strerror(error))};
}

}  // namespace tmpi::launch
