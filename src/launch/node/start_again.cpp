#include "launch/node/start_again.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "launch/control/control.hpp"
#include "launch/node/library_report.hpp"
#include "launch/node/migration.hpp"
#include "launch/node/remote_start.hpp"
#include "launch/wire/frames.hpp"
#include "net/secret.hpp"
#include "privatize/early_libraries.hpp"

namespace tmpi::launch {
namespace {

// `tmpi-node --again attached|own IN OUT OUTPUT FRAMES PRELOAD`; PRELOAD: LD_PRELOAD as it was before.
constexpr const char* kAgain = "--again";
constexpr const char* kAttached = "attached";
constexpr std::size_t kArguments = 8;

bool runs_here(const Assignment& assignment, std::size_t program) {
  for (int rank = 0; rank < assignment.job.total_ranks(); ++rank) {
    if (assignment.node.node_of_rank(rank) == assignment.node.node &&
        assignment.job.app_of(rank) == static_cast<int>(program))
      return true;
  }
  return false;
}

std::vector<std::string> missing_libraries(const Assignment& assignment) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < assignment.job.apps.size(); ++i) {
    const AppSpec& app = assignment.job.apps[i];
    if (!runs_here(assignment, i)) continue;
    for (std::string& path :
         privatize::missing_early_libraries(app.program, value_for(app, "LD_LIBRARY_PATH"))) {
      if (std::ranges::find(missing, path) == missing.end()) missing.push_back(std::move(path));
    }
  }
  return missing;
}

/// The runtimes read their options when the process starts.
void set_sanitizer_options(const JobSpec& job) {
  for (const AppSpec& app : job.apps) {
    for (const std::string& line : app.environment) {
      const std::string name = line.substr(0, line.find('='));
      if (name.ends_with("SAN_OPTIONS") && name.size() < line.size())
        setenv(name.c_str(), line.c_str() + name.size() + 1, 1);
    }
  }
}

/// A memory file that the next program finds open; none: the system gives none.
Fd keep(std::string bytes) {
  Fd fd(memfd_create("tmpi-job", 0));
  std::string_view rest = bytes;
  while (fd && !rest.empty()) {
    const ssize_t done = write(fd.get(), rest.data(), rest.size());
    if (done <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
  const bool whole = rest.empty();
  net::wipe(bytes);
  return whole ? std::move(fd) : Fd();
}

std::string take(Fd fd) {
  const off_t size = lseek(fd.get(), 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = pread(fd.get(), bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  return bytes;
}

// The channel's state with its length before it, then frames.
std::string handed_on(std::string state, const Assignment& assignment, std::string_view unread) {
  std::string frames;
  append_record(frames, static_cast<std::uint64_t>(state.size()));
  frames += state;
  net::wipe(state);
  std::string job = pack(assignment);
  append_frame(frames, FrameType::kJob, 0, 0, job);
  net::wipe(job);
  return frames.append(unread);
}

std::string preload_value() {
  const char* const value = std::getenv("LD_PRELOAD");
  return value != nullptr ? value : "";
}

void set_close_on_exec(const std::array<int, 4>& descriptors, bool close) {
  for (const int fd : descriptors) {
    if (fd >= 0) fcntl(fd, F_SETFD, close ? FD_CLOEXEC : 0);
  }
}

}  // namespace

void start_again_if_needed(const Control& control, const Assignment& received, int output) {
  Assignment assignment = received;
  if (assignment.node.remote) {  // what is wrong there is said later
    static_cast<void>(enter_surroundings(assignment.node, assignment.job));
    find_programs(assignment.job);
  }
  const std::vector<std::string> missing = missing_libraries(assignment);
  const bool elsewhere = has_other_addresses(received.job);
  if (missing.empty() && !(elsewhere && choose_addresses())) return;
  const Channel& channel = control.channel().channel();
  const Fd frames = keep(handed_on(channel.seal_state(), received, channel.unread()));
  if (!frames) return;
  const std::string before = preload_value();
  std::string preload;
  for (const std::string& path : missing) preload += path + ":";
  const std::string in = std::to_string(channel.in()), out = std::to_string(channel.out());
  const std::string pipe = std::to_string(output), kept = std::to_string(frames.get());
  const std::array<const char*, kArguments + 1> words{
      "tmpi-node",  kAgain,         channel.sealed() ? kAttached : "own",
      in.c_str(),   out.c_str(),    pipe.c_str(),
      kept.c_str(), before.c_str(), nullptr};
  set_sanitizer_options(received.job);
  setenv("LD_PRELOAD", (preload + before).c_str(), 1);
  const std::array<int, 4> descriptors{channel.in(), channel.out(), output, frames.get()};
  set_close_on_exec(descriptors, false);
  execv("/proc/self/exe", const_cast<char* const*>(words.data()));
  // Refused: the loader will say what is missing.
  set_close_on_exec(descriptors, true);
  before.empty() ? unsetenv("LD_PRELOAD") : setenv("LD_PRELOAD", before.c_str(), 1);
}

std::optional<Beginning> begin_again(std::span<char* const> arguments) {
  if (arguments.size() != kArguments || std::strcmp(arguments[1], kAgain) != 0) return {};
  const auto number = [&](std::size_t i) { return std::atoi(arguments[i]); };
  const char* const before = arguments[7];
  *before == '\0' ? unsetenv("LD_PRELOAD") : setenv("LD_PRELOAD", before, 1);
  Fd output(number(5));
  if (output) fcntl(output.get(), F_SETFD, FD_CLOEXEC);
  std::string kept = take(Fd(number(6)));
  std::string_view rest = kept;
  std::uint64_t length = 0;
  if (!read_record(rest, length)) return {};
  const std::string_view state = rest.substr(0, length);
  std::string received(rest.substr(state.size()));
  const int in = number(3), out = number(4);
  Channel channel(Fd(in), Fd(out == in ? -1 : out));
  if (std::strcmp(arguments[2], kAttached) == 0) channel.seal_again(state);
  net::wipe(kept);
  return Beginning{ControlChannel(std::move(channel), std::move(received)), std::move(output), true};
}

}  // namespace tmpi::launch
