#include "launch/plan/program_prefix.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/fd.hpp"
#include "launch/system/program_path.hpp"
#include "launch/system/script.hpp"
#include "launch/system/valgrind.hpp"
#include "launch/system/variables.hpp"

namespace tmpi::launch {
namespace {

using Words = std::vector<std::string>;

struct Prefix {
  std::string_view name;
  bool
      plain;  ///< the first word behind it that is a program is the one: it has no words of its own like "stat"
};

constexpr auto kPrefixes = std::to_array<Prefix>({
    {"env", true},     {"nice", true},     {"ionice", true},   {"nohup", true},      {"taskset", true},
    {"chrt", true},    {"stdbuf", true},   {"time", true},     {"timeout", true},    {"numactl", true},
    {"prlimit", true}, {"setarch", false}, {"linux64", true},  {"strace", true},     {"ltrace", true},
    {"perf", false},   {"gdb", false},     {"valgrind", true}, {"likwid-pin", true}, {"likwid-perfctr", true},
});

const Prefix* prefix_of(std::string_view word) {
  const auto* found = std::ranges::find(kPrefixes, word.substr(word.rfind('/') + 1), &Prefix::name);
  return found == kPrefixes.end() ? nullptr : found;
}

/// By the note of start.o, or by a name of the ABI's library among those that it needs: that of any MPI, which may have
/// a path in front of it ("/opt/mpich/lib/libmpi_abi.so.1").
bool is_of_tmpi(const std::string& path) {
  static constexpr char kNote[] = "\5\0\0\0\20\0\0\0\1\0\0\0tmpi";
  static constexpr std::string_view kLibrary = "libmpi_abi";
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd) return false;
  const bool file = fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* bytes = file ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0) : MAP_FAILED;
  if (bytes == MAP_FAILED) return false;
  const bool found = memmem(bytes, size, kNote, sizeof(kNote)) != nullptr ||
                     memmem(bytes, size, kLibrary.data(), kLibrary.size()) != nullptr;
  munmap(bytes, size);
  return found;
}

/// Where in `words`, behind the first, the program is; 0 if that cannot be told.
std::size_t find_behind(const Words& words, const std::string& wdir, bool plain) {
  std::size_t first = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].empty() || words[i].starts_with('-')) continue;
    const ProgramPath found = find_program(words[i], wdir);
    if (found.path.empty()) continue;
    if (is_of_tmpi(found.path) || is_python_name(words[i])) return i;
    if (first == 0) first = i;
  }
  return plain ? first : 0;
}

void drop_words(AppSpec& app, std::size_t count) {
  app.arguments.erase(app.arguments.begin(), app.arguments.begin() + static_cast<std::ptrdiff_t>(count));
  app.program = app.arguments.front();
}

/// `env A=1 B=2 PROGRAM`, without options of env.
bool take_variables(AppSpec& app) {
  const Words& words = app.arguments;
  std::size_t next = 1;
  while (next < words.size() && !words[next].starts_with('-') && words[next].find('=') != std::string::npos)
    ++next;
  if (next == words.size() || words[next].starts_with('-')) return false;
  for (std::size_t i = 1; i < next; ++i) put_variable(app.environment, words[i]);
  drop_words(app, next);
  return true;
}

/// The words in front of the program, which are taken away from it.
Result<Words> take_prefix(AppSpec& app) {
  const Prefix* prefix = prefix_of(app.program);
  while (prefix != nullptr && prefix->name == "env" && take_variables(app)) prefix = prefix_of(app.program);
  if (prefix == nullptr || is_of_tmpi(find_program(app.program, app.wdir).path)) return Words{};
  if (prefix->name == "valgrind") return Failure{kNotUnderValgrind};
  const std::size_t at = find_behind(app.arguments, app.wdir, prefix->plain);
  if (at == 0) {
    if (app.arguments.size() == 1) return Words{};  // `tmpirun env` is as good a program as any
    return Failure{
        fmt::format("cannot tell which of the words behind '{}' is the program to run: none is a program of "
                    "tmpi. Check its path, or "
                    "give the words before it as --wrapper \"{} ...\"",
                    app.program, app.program)};
  }
  Words words(app.arguments.begin(), app.arguments.begin() + static_cast<std::ptrdiff_t>(at));
  drop_words(app, at);
  return words;
}

}  // namespace

Result<void> take_prefixes(Settings& settings) {
  std::vector<AppSpec>& apps = settings.job.apps;
  Words common;
  for (AppSpec& app : apps) {
    Result<Words> words = take_prefix(app);
    if (!words) return words.failure();
    if (&app != apps.data() && *words != common) {
      return Failure{
          fmt::format("'{}' stands in front of '{}' only: all programs of a job share a process, which it "
                      "would start. Put it in "
                      "front of each of them, or give it as --wrapper",
                      fmt::join(words->empty() ? common : *words, " "),
                      words->empty() ? apps.front().program : app.program)};
    }
    common = *std::move(words);
  }
  settings.wrapper.insert(settings.wrapper.end(), common.begin(), common.end());
  return {};
}

}  // namespace tmpi::launch
