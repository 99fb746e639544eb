// SizeLimit: while it lives, growing a file beyond the limit of the process (RLIMIT_FSIZE, `ulimit -f`) is an error,
// EFBIG, and not SIGXFSZ, which would end the node process with all its ranks.
#pragma once

#include <csignal>

namespace tmpi::mpi {

class SizeLimit {
 public:
  /// Looks whether there is a limit; without one, objects cost nothing. When a file is opened to be written.
  static void look() noexcept;

  SizeLimit() noexcept;
  ~SizeLimit();
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  bool blocks_ = false;  // the signal, which was not blocked
  sigset_t before_;
};

}  // namespace tmpi::mpi
