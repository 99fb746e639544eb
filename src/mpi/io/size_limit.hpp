// SizeLimit: while it lives, growing a file beyond the limit of the process (RLIMIT_FSIZE, `ulimit -f`) is an error,
// EFBIG, and not SIGXFSZ, which would end the node process with all its ranks.
#pragma once

#include <csignal>

namespace tmpi::mpi {

class SizeLimit {
 public:
  /// Costs one system call where there is no limit: a program may set one at any time.
  SizeLimit() noexcept;
  ~SizeLimit();
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  bool blocks_ = false;  // the signal, which was not blocked
  sigset_t before_;
};

}  // namespace tmpi::mpi
