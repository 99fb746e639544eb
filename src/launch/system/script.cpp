#include "launch/system/script.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/fd.hpp"
#include "base/path.hpp"
#include "launch/system/words.hpp"

namespace tmpi::launch {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// What a file begins with, up to the length that the kernel looks at.
std::string beginning_of(const std::string& path) {
  std::array<char, 256> buffer{};
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // it may be a FIFO
  if (!fd) return {};
  const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

}  // namespace

std::vector<std::string> interpreter_line(const std::string& path) {
  const std::string text = beginning_of(path);
  if (!text.starts_with("#!")) return {};
  const std::string_view line = trimmed(std::string_view(text).substr(2, text.find('\n') - 2));
  const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
  if (end == 0) return {};
  std::vector<std::string> words{std::string(line.substr(0, end))};
  if (end < line.size()) words.emplace_back(trimmed(line.substr(end)));
  return words;
}

std::vector<std::string> without_env(std::vector<std::string> line) {
  if (line.empty() || file_of(line.front()) != "env") return line;
  if (line.size() == 1) return {};
  std::vector<std::string> words{line.back()};
  if (line.back().starts_with("-S")) words = split_words(std::string_view(line.back()).substr(2));
  const bool runs_it = !words.empty() && !words.front().starts_with('-') &&
                       words.front().find_first_of("= \t") == std::string::npos;
  return runs_it ? words : std::vector<std::string>{};
}

bool is_python_name(std::string_view path) {
  std::string_view name = file_of(path);
  if (!name.starts_with("python")) return false;
  name.remove_prefix(6);
  name.remove_prefix(std::min(name.find_first_not_of("0123456789."), name.size()));
  name.remove_prefix(
      std::min(name.find_first_not_of("dmtu"), name.size()));  // of builds: debug, free-threaded
  return name.empty() || name == "-dbg";
}

bool is_shell_name(std::string_view path) {
  constexpr auto kShells = std::to_array<std::string_view>(
      {"sh", "bash", "dash", "zsh", "ksh", "mksh", "csh", "tcsh", "fish", "busybox"});
  return std::ranges::find(kShells, file_of(path)) != kShells.end();
}

}  // namespace tmpi::launch
