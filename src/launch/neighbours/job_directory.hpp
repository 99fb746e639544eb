// JobDirectory: how the jobs of one user on one machine find each other: a directory that only the user can use, with
// three files for each job that others may connect with: a lock that its tmpirun holds while it lives, a Unix socket, and
// the names that its ranks have published. docs/design/dynamic-processes.md, "Between jobs". tmpirun's one thread; nothing waits
// for another process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace tmpi::launch {

class JobDirectory {
 public:
  /// `network`: of this job's node processes (Hello::network); what runs elsewhere is not seen. `name`: for messages.
  JobDirectory(std::uint64_t job, std::string network, std::string name)
      : job_(job), network_(std::move(network)), name_(std::move(name)) {}
  ~JobDirectory();
  JobDirectory(const JobDirectory&) = delete;
  JobDirectory& operator=(const JobDirectory&) = delete;

  /// "/run/user/1000/tmpi": $XDG_RUNTIME_DIR/tmpi, or tmpi-UID in $TMPDIR or /tmp.
  static std::string path();
  /// That directory, made if there is none. Failure: it cannot be had, or is not the user's alone.
  static Result<Fd> open_own_directory();

  /// Others may find this job from now on. Removes what dead jobs have left. Failure: the directory cannot be had, or is
  /// not the user's alone. Again: nothing happens.
  Result<void> announce();
  /// Where others call (own_socket.hpp); none: not announced.
  const Fd& listener() const noexcept { return listener_; }

  /// What others may look up from now on: names, and what they stand for.
  Result<void> publish(const std::vector<std::pair<std::string, std::string>>& names);

  /// What the name stands for in another job. Failure: none has published it, or several have.
  Result<std::string> look_up(std::string_view name);
  /// A connection with the tmpirun of that job. Failure: it is not there.
  Result<Fd> call(std::uint64_t job);

 private:
  Result<void> enter();
  bool alive(const std::string& job) const;
  std::vector<std::string> others() const;
  std::string file(const char* kind) const;

  const std::uint64_t job_;
  const std::string network_, name_;
  Fd directory_, lock_, listener_;
  bool published_ = false;
};

}  // namespace tmpi::launch
