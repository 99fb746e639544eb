// The command line that starts a node process on another machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tmpi::launch {

/// `agent` is ssh, or a program that is used like it (--launch-agent), with arguments (split_words()). A
/// word that contains {} names the host and the command follows as words; else host and command, as one word
/// for the remote shell, are appended. `executable`: the path of tmpi-node here, which is looked for there
/// first, and then in PATH there, and started through `wrapper` (--wrapper), if that is not empty. Failure: there is
/// no such agent.
Result<std::vector<std::string>> remote_command(const std::string& agent, const std::string& host,
                                                const std::string& executable,
                                                const std::vector<std::string>& wrapper = {});

/// As one word of a shell.
std::string shell_word(std::string_view word);

/// Why no node process says hello from `host`, and what to do, from how the agent has ended (`code`: its exit
/// code) and what it has printed.
std::string explain_failed_start(const std::string& agent, const std::string& host, int code,
                                 const std::string& executable, std::string_view printed);

}  // namespace tmpi::launch
