#include "launch/options/text_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"

namespace tmpi::launch {
namespace {

constexpr std::size_t kLargestFile = 16u << 20;  // 65,536 hosts with long names fit

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::string_view what) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Failure{fmt::format("cannot read the file: {}", strerror(errno))};
  std::string text;
  ssize_t got = 0;
  do {
    char buffer[16 << 10];
    got = read(fd.get(), buffer, sizeof(buffer));  // "Is a directory" is told here
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  } while ((got > 0 && text.size() <= kLargestFile) || (got < 0 && errno == EINTR));
  if (got < 0)
    return Failure{
        fmt::format("cannot read the file{}: {}", text.empty() ? "" : " to its end", strerror(errno))};
  if (text.size() > kLargestFile)
    return Failure{fmt::format("it is larger than {} MiB: it is no file of {}", kLargestFile >> 20, what)};
  return text;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string out;
  for (const char c : text.substr(0, kMost)) out += static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
  return text.size() > kMost ? out + "..." : out;
}

}  // namespace tmpi::launch
