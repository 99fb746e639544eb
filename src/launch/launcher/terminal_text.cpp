#include "launch/launcher/terminal_text.hpp"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tmpi::launch {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool stdout_is_a_screen() {
  return isatty(STDOUT_FILENO) == 1 && variable("TERM") != "" && variable("TERM") != "dumb";
}

/// Whether the pager could be started.
bool paged(const std::string& text, const char* pager) {
  signal(SIGPIPE, SIG_IGN);  // the reader may leave before the end
  FILE* const pipe = popen(pager, "w");
  if (pipe == nullptr) return false;
  fwrite(text.data(), 1, text.size(), pipe);
  const int status = pclose(pipe);
  constexpr int kNotExecutable = 126, kNotFound = 127;  // the shell's exit codes
  return !WIFEXITED(status) || (WEXITSTATUS(status) != kNotExecutable && WEXITSTATUS(status) != kNotFound);
}

}  // namespace

bool stdout_wants_colours() {
  return stdout_is_a_screen() && variable("NO_COLOR").empty();
}

int show_text(const std::string& text) {
  if (stdout_is_a_screen()) {
    const char* const chosen = std::getenv("PAGER");
    const char* const pager = chosen == nullptr ? "less" : chosen;
    // Text shorter than the screen is just printed (F), colours pass (R), and the text stays when less ends (X).
    setenv("LESS", "FRX", 0);
    // What sh says of a missing pager is nobody's concern.
    if (*pager != '\0' && (chosen != nullptr || system("command -v less > /dev/null") == 0) &&
        paged(text, pager))
      return 0;
  }
  const bool written = fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0;
  return written ? 0 : 1;
}

}  // namespace tmpi::launch
