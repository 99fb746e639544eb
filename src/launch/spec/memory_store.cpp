#include "launch/spec/memory_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "base/whole_file.hpp"

namespace tmpi::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMemory = "/dev/shm";
constexpr const char* kSeenLeft = "left";  // made by who has found the folder without a user
constexpr std::chrono::minutes kLeft{10};  // after that: between two groups of node processes nobody uses it

std::string prefix() {
  return fmt::format("tmpi-{}-", geteuid());
}

std::string root_of(std::uint64_t store) {
  return fmt::format("{}/{}{:016x}", kMemory, prefix(), store);
}

Failure failed(const std::string& path) {
  return Failure{with_reason(path)};
}

bool is_own_folder(const struct stat& status) {
  return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/// A folder of the user's alone, which may be there already.
Result<void> make_own_folder(const std::string& path) {
  if (mkdir(path.c_str(), S_IRWXU) == 0) return {};
  struct stat status {};
  if (errno != EEXIST || lstat(path.c_str(), &status) != 0) return failed(path);
  if (!is_own_folder(status))
    return Failure{fmt::format("{} is not a folder of user {} alone", path, geteuid())};
  return {};
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error)) found.push_back(at->path());
  }
  return found;
}

/// Of the user's own what nobody uses, and did not use the last time either, a while ago.
void remove_left_ones() {
  for (const fs::path& folder : folders_in(kMemory)) {
    if (!folder.filename().string().starts_with(prefix())) continue;
    const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    std::error_code error;
    struct stat status {};
    if (!fd || fstat(fd.get(), &status) != 0 || !is_own_folder(status)) continue;
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (fstatat(fd.get(), kSeenLeft, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      const Fd mark(openat(fd.get(), kSeenLeft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
      continue;
    }
    const auto seen = std::chrono::system_clock::from_time_t(status.st_mtime);
    if (std::chrono::system_clock::now() - seen < kLeft) continue;
    fs::remove_all(folder, error);
  }
}

}  // namespace

MemoryStore::MemoryStore(std::string root, int node, Fd alive)
    : root_(std::move(root)), part_(fmt::format("{}/node-{}", root_, node)), alive_(std::move(alive)) {}

Result<MemoryStore> MemoryStore::open(std::uint64_t store, int node) {
  remove_left_ones();
  const std::string root = root_of(store);
  if (const Result<void> made = make_own_folder(root); !made) return made.failure();
  Fd alive(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!alive || flock(alive.get(), LOCK_SH) != 0) return failed(root);
  unlinkat(alive.get(), kSeenLeft, 0);
  MemoryStore opened(root, node, std::move(alive));
  if (const Result<void> made = make_own_folder(opened.part_); !made) return made.failure();
  return opened;
}

std::string MemoryStore::file(std::uint64_t number, int rank) const {
  return fmt::format("{}/{}/rank-{}", part_, number, rank);
}

Result<void> MemoryStore::begin(std::uint64_t number) const {
  return make_own_folder(fmt::format("{}/{}", part_, number));
}

std::vector<std::string> MemoryStore::parts() const {
  std::vector<std::string> found;
  for (const fs::path& folder : folders_in(root_)) found.push_back(folder.string());
  std::ranges::sort(found);
  return found;
}

std::vector<std::uint64_t> MemoryStore::numbers() const {
  std::vector<std::uint64_t> found;
  for (const std::string& part : parts()) {
    for (const fs::path& folder : folders_in(part)) {
      const std::string name = folder.filename();
      std::uint64_t number = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (error == std::errc() && *end == '\0') found.push_back(number);
    }
  }
  std::ranges::sort(found, std::greater());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string MemoryStore::find(std::uint64_t number, int rank) const {
  std::error_code error;
  if (std::string own = file(number, rank); fs::exists(own, error)) return own;
  for (const std::string& part : parts()) {
    std::string path = fmt::format("{}/{}/rank-{}", part, number, rank);
    if (fs::exists(path, error)) return path;
  }
  return "";
}

void MemoryStore::end(std::uint64_t number, bool complete) const {
  std::error_code error;
  if (!complete) {
    fs::remove_all(fmt::format("{}/{}", part_, number), error);
    return;
  }
  for (const std::uint64_t other : numbers()) {
    for (const std::string& part : parts()) {
      if (other != number) fs::remove_all(fmt::format("{}/{}", part, other), error);
    }
  }
}

void MemoryStore::remove(std::uint64_t store) noexcept {
  std::error_code error;
  fs::remove_all(root_of(store), error);
}

}  // namespace tmpi::launch
