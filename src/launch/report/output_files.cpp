#include "launch/report/output_files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "launch/system/descriptor_limit.hpp"

namespace tmpi::launch {

Result<OutputFiles> OutputFiles::create(std::string directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return Failure{
        fmt::format("--output-filename {}: cannot create the directory: {}", directory, error.message())};
  return OutputFiles(std::move(directory));
}

OutputFiles::OutputFiles(std::string directory) : directory_(std::move(directory)) {
  raise_descriptor_limit(RLIM_INFINITY);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  most_open_ = static_cast<std::size_t>(std::max<rlim_t>(limit.rlim_cur, 80)) - 64;
}

Result<int> OutputFiles::open_file(int rank, int stream) {
  const std::int64_t key = std::int64_t{rank} * 2 + stream - 1;
  if (const auto found = open_.find(key); found != open_.end()) return found->second.get();
  if (open_.size() >= most_open_) {
    open_.erase(order_.front());
    order_.pop_front();
  }
  // Output of no rank comes from what ranks wrote past their own stdout (write(1), child processes).
  const std::string folder = rank == -1  ? directory_ + "/node"
                             : rank < -1 ? fmt::format("{}/node.{}", directory_, -1 - rank)
                                         : fmt::format("{}/rank.{}", directory_, rank);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path = folder + (stream == 1 ? "/stdout" : "/stderr");
  Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (created_[key] ? 0 : O_TRUNC), 0666));
  if (!fd) return Failure{fmt::format("--output-filename: cannot open {}: {}", path, strerror(errno))};
  created_[key] = true;
  order_.push_back(key);
  return (open_[key] = std::move(fd)).get();
}

Result<void> OutputFiles::write(int rank, int stream, std::string_view bytes) {
  const Result<int> fd = open_file(rank, stream);
  if (!fd) return fd.failure();
  while (!bytes.empty()) {
    const ssize_t done = ::write(*fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      return Failure{fmt::format("--output-filename: cannot write to {}/rank.{}: {}", directory_, rank,
                                 strerror(errno))};
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

}  // namespace tmpi::launch
