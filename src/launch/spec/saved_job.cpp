#include "launch/spec/saved_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/whole_file.hpp"
#include "launch/system/version.hpp"

namespace tmpi::launch {
namespace {

namespace fs = std::filesystem;

std::string first_line() {
  return fmt::format("tmpi {} checkpoint\n", kVersion);
}

Failure failed(const std::string& path) {
  return Failure{with_reason(path)};
}

Result<std::string> contents(const std::string& path) {
  const Result<Fd> fd = open_own_file(path);
  if (!fd) return fd.failure();
  std::string text;
  char part[1 << 14];
  ssize_t got = 0;
  while ((got = read(fd->get(), part, sizeof part)) > 0) text.append(part, static_cast<std::size_t>(got));
  if (got < 0) return failed(path);
  return text;
}

}  // namespace

Result<Fd> open_own_file(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return failed(path);
  struct stat status {};
  std::string problem;
  if (fstat(fd.get(), &status) != 0)
    problem = std::strerror(errno);
  else if (!S_ISREG(status.st_mode))
    problem = "is no file";
  else if (status.st_uid != geteuid())
    problem = fmt::format("belongs to another user (id {})", status.st_uid);
  else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    problem = "can be written to by others; chmod go-w it if you trust it";
  if (problem.empty()) return fd;
  return Failure{fmt::format("{}: {}", path, problem)};
}

Result<std::string> find_checkpoint(const std::string& directory) {
  std::error_code error;
  for (const char* name : {"last", "before"}) {
    const fs::path folder = fs::path(directory) / name;
    if (fs::exists(folder / "job", error)) return fs::absolute(folder, error).string();
  }
  return Failure{fmt::format("{}: there is no complete checkpoint in it", directory)};
}

Result<JobSpec> read_saved_job(const std::string& folder) {
  const std::string path = folder + "/job", first = first_line();
  const Result<std::string> text = contents(path);
  if (!text) return text.failure();
  if (!text->starts_with(first)) {
    return Failure{
        fmt::format("{}: was not written by this version of tmpi ({}), whose ranks alone it can go on with",
                    path, kVersion)};
  }
  Result<JobSpec> job = unpack_job(std::string_view(*text).substr(first.size()));
  if (!job || job->apps.empty() || job->slot_bytes == 0) return Failure{fmt::format("{}: is damaged", path)};
  return job;
}

Result<void> write_saved_job(const std::string& folder, const JobSpec& job) {
  const std::string path = folder + "/job", text = first_line() + pack(job);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return failed(path);
  const bool written = write_whole(fd, text.data(), text.size());
  const bool kept = fsync(fd) == 0;
  if (close(fd) != 0 || !written || !kept) return failed(path);
  return {};
}

}  // namespace tmpi::launch
