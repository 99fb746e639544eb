// The limit on the size of files (RLIMIT_FSIZE, ulimit -f) is the user's for what the program writes. It counts for every
// file, the kernel's memory files among them.
#pragma once

#include <sys/resource.h>

#include <mutex>

namespace tmpi {

/// Raises the process's soft limit as far as it may be; the limit as it was before.
inline rlimit raise_file_size_limit() noexcept {
  rlimit before{RLIM_INFINITY, RLIM_INFINITY};
  if (getrlimit(RLIMIT_FSIZE, &before) != 0 || before.rlim_cur == RLIM_INFINITY) return before;
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY}, most{before.rlim_max, before.rlim_max};
  if (setrlimit(RLIMIT_FSIZE, &none) != 0) setrlimit(RLIMIT_FSIZE, &most);
  return before;
}

/// While it lives, what tmpi itself writes is not limited, but by a hard limit that it may not raise. Ranks that write
/// meanwhile are not, either.
class UnlimitedFiles {
 public:
  UnlimitedFiles() noexcept : guard_(mutex_), before_(raise_file_size_limit()) {}
  ~UnlimitedFiles() {
    if (before_.rlim_cur != RLIM_INFINITY) setrlimit(RLIMIT_FSIZE, &before_);
  }
  UnlimitedFiles(const UnlimitedFiles&) = delete;
  UnlimitedFiles& operator=(const UnlimitedFiles&) = delete;

  /// Whether a file of so many bytes may be made.
  static bool allow(rlim_t bytes) noexcept {
    rlimit now{};
    return getrlimit(RLIMIT_FSIZE, &now) != 0 || now.rlim_cur == RLIM_INFINITY || now.rlim_cur >= bytes;
  }

 private:
  static inline std::mutex mutex_;  // two at a time would restore the wrong limit
  const std::lock_guard<std::mutex> guard_;
  const rlimit before_;
};

}  // namespace tmpi
