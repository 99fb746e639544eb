#include "launch/plan/remote_shell.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "launch/system/program_path.hpp"
#include "launch/system/words.hpp"

namespace tmpi::launch {
namespace {

constexpr std::string_view kHostHere = "{}";

// What tmpi-node needs from the first instant on; the rest of the environment comes with the job. Only sh's
// language is used: the remote user's shell may be another one.
std::vector<std::string> shell_command(const std::string& directory,
                                       const std::vector<std::string>& wrapper) {
  std::string start = "exec ";
  for (const std::string& word : wrapper) start += shell_word(word) + " ";
  start += "tmpi-node --remote";
  const char* libraries = std::getenv("LD_LIBRARY_PATH");
  if (libraries == nullptr || *libraries == '\0')
    return {"/bin/sh", "-c", R"(PATH="$0:$PATH" )" + start, directory};
  return {"/bin/sh", "-c", R"(PATH="$0:$PATH" LD_LIBRARY_PATH="$1" )" + start, directory, libraries};
}

// No question that nobody answers, no waiting for a host that is off, and word of a host that disappears.
void add_options_of_ssh(std::vector<std::string>& words) {
  for (const char* option : {"-x", "-T", "-oBatchMode=yes", "-oConnectTimeout=4", "-oServerAliveInterval=1",
                             "-oServerAliveCountMax=3"})
    words.emplace_back(option);
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace

std::string shell_word(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += R"('\'')";
    else
      text += c;
  }
  return text + "'";
}

Result<std::vector<std::string>> remote_command(const std::string& agent, const std::string& host,
                                                const std::string& executable,
                                                const std::vector<std::string>& wrapper) {
  std::vector<std::string> words = split_words(agent);
  const ProgramPath found =
      words.empty() ? ProgramPath{"", "there is none", kExitNotFound} : find_program(words.front(), "");
  if (found.path.empty()) return Failure{fmt::format("--launch-agent {}: {}", agent, found.problem)};
  const std::string directory = std::filesystem::path(executable).parent_path();
  if (std::filesystem::path(words.front()).filename() == "ssh") add_options_of_ssh(words);
  words.front() = found.named;
  bool named = false;
  for (std::string& word : words) {
    const std::size_t at = word.find(kHostHere);
    if (at == std::string::npos) continue;
    word.replace(at, kHostHere.size(), host);
    named = true;
  }
  const std::vector<std::string> command = shell_command(directory, wrapper);
  if (named) {
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + shell_word(word);
  words.push_back(host);
  words.push_back(line);
  return words;
}

std::string explain_failed_start(const std::string& agent, const std::string& host, int code,
                                 const std::string& executable, std::string_view printed) {
  std::string line = last_line(printed);
  if (!line.empty()) line = fmt::format(" ({})", line);
  if (code == kExitNotFound) {
    return fmt::format(
        "tmpi-node is missing on host {}: it is neither in {} nor in PATH there{}; install the "
        "same tmpi as here",
        host, std::filesystem::path(executable).parent_path().string(), line);
  }
  std::string trial = agent;
  const std::size_t at = trial.find(kHostHere);
  if (at == std::string::npos) {
    trial += " " + host;
  } else {
    trial.replace(at, kHostHere.size(), host);
  }
  return fmt::format(
      "cannot start a node process on host {}: {} ended with exit code {}{}; check that `{} true` works "
      "without a question",
      host, agent, code, line, trial);
}

}  // namespace tmpi::launch
