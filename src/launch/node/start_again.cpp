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

#include "launch/control/attached_channel.hpp"
#include "launch/control/control.hpp"
#include "launch/control/control_channel.hpp"
#include "launch/node/library_report.hpp"
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

/// A memory file that the next program finds open; -1: the system gives none.
int keep(std::string bytes) {
  const int fd = memfd_create("tmpi-job", 0);
  std::string_view rest = bytes;
  while (fd >= 0 && !rest.empty()) {
    const ssize_t done = write(fd, rest.data(), rest.size());
    if (done <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
  const bool whole = rest.empty();
  net::wipe(bytes);
  if (whole || fd < 0) return fd;
  close(fd);
  return -1;
}

std::string take(int fd) {
  const off_t size = lseek(fd, 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = pread(fd, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  bytes.resize(got);
  close(fd);
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

void start_again_if_needed(const Control& control, const Assignment& received, const Beginning& beginning) {
  if (beginning.again) return;
  Assignment assignment = received;
  if (assignment.node.remote) {  // what is wrong there is said later
    static_cast<void>(enter_surroundings(assignment.node, assignment.job));
    find_programs(assignment.job);
  }
  const std::vector<std::string> missing = missing_libraries(assignment);
  if (missing.empty()) return;
  const Wireup::Watched channel = control.channel();
  const int frames = keep(handed_on(control.channel_state(), received, control.unread()));
  if (frames < 0) return;
  const std::string before = preload_value();
  std::string preload;
  for (const std::string& path : missing) preload += path + ":";
  const std::string in = std::to_string(channel.in), out = std::to_string(channel.out);
  const std::string output = std::to_string(beginning.output), kept = std::to_string(frames);
  const std::array<const char*, kArguments + 1> words{
      "tmpi-node",  kAgain,         beginning.attached ? kAttached : "own",
      in.c_str(),   out.c_str(),    output.c_str(),
      kept.c_str(), before.c_str(), nullptr};
  set_sanitizer_options(received.job);
  setenv("LD_PRELOAD", (preload + before).c_str(), 1);
  const std::array<int, 4> descriptors{channel.in, channel.out, beginning.output, frames};
  set_close_on_exec(descriptors, false);
  execv("/proc/self/exe", const_cast<char* const*>(words.data()));
  // Refused: the loader will say what is missing.
  set_close_on_exec(descriptors, true);
  close(frames);
  before.empty() ? unsetenv("LD_PRELOAD") : setenv("LD_PRELOAD", before.c_str(), 1);
}

std::optional<Beginning> begin_again(std::span<char* const> arguments) {
  if (arguments.size() != kArguments || std::strcmp(arguments[1], kAgain) != 0) return {};
  const auto number = [&](std::size_t i) { return std::atoi(arguments[i]); };
  const char* const before = arguments[7];
  *before == '\0' ? unsetenv("LD_PRELOAD") : setenv("LD_PRELOAD", before, 1);
  Beginning beginning;
  beginning.again = true;
  beginning.attached = std::strcmp(arguments[2], kAttached) == 0;
  beginning.output = number(5);
  if (beginning.output >= 0) fcntl(beginning.output, F_SETFD, FD_CLOEXEC);
  std::string kept = take(number(6));
  std::string_view rest = kept;
  std::uint64_t length = 0;
  if (!read_record(rest, length)) return {};
  const std::string_view state = rest.substr(0, length);
  std::string received(rest.substr(state.size()));
  if (beginning.attached)
    beginning.wireup = std::make_unique<AttachedChannel>(number(3), std::move(received), state);
  else
    beginning.wireup = std::make_unique<ControlChannel>(number(3), number(4), std::move(received));
  net::wipe(kept);
  return beginning;
}

}  // namespace tmpi::launch
