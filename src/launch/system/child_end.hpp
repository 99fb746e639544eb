// What waitpid() says of a child that has ended, in words.
#pragma once

#include <fmt/core.h>
#include <sys/wait.h>

#include <string>

namespace tmpi::launch {

/// "was killed by signal 9", "ended with exit code 2".
inline std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                             : fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace tmpi::launch
