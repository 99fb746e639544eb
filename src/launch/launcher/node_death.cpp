#include "launch/launcher/node_death.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "launch/plan/remote_shell.hpp"
#include "launch/system/no_memory.hpp"
#include "launch/system/program_path.hpp"

namespace tmpi::launch {
namespace {

constexpr int kExitSsh = 255;  // ssh's own trouble

// 0: none. Of another machine's node process only an exit code comes here, as a shell has it.
int fatal_signal(const Node& node) {
  const int status = node.process().status();
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  const int code = WEXITSTATUS(status);
  return node.remote() && code > 128 && code <= 128 + SIGRTMAX ? code - 128 : 0;
}

}  // namespace

int code_of_death(const Node& node) {
  const int status = node.process().status();
  if (const int signal = fatal_signal(node)) return 128 + signal;
  return WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kExitSsh ? 1 : WEXITSTATUS(status);
}

bool is_lost(const Node& node) {
  const int status = node.process().status();
  const bool by_channel = WIFEXITED(status) && WEXITSTATUS(status) == kExitLostChannel;
  const bool by_shell =
      node.remote() && WIFEXITED(status) && (!node.hello || WEXITSTATUS(status) == kExitSsh);
  return node.process().adopted() || fatal_signal(node) == SIGKILL || by_channel || by_shell;
}

std::string explain_death(const Node& node, const DeathContext& context) {
  const int status = node.process().status();
  const int pid = node.remote() && node.hello ? node.hello->pid : node.process().pid();
  const std::string who = fmt::format("{} (pid {}), with {},", context.name, pid, context.ranks);
  if (node.process().adopted()) {
    return fmt::format(
        "{} has ended without a report: it was killed, or its machine or the network to it has failed", who);
  }
  if (node.remote() && WIFEXITED(status) && !node.hello) {
    return explain_failed_start(context.launch_agent, node.host(), WEXITSTATUS(status), context.executable,
                                node.diagnostics);
  }
  if (node.remote() && WIFEXITED(status) && WEXITSTATUS(status) == kExitSsh) {
    return fmt::format("the connection to host {} was lost, with {}: {} has ended", node.host(),
                       context.ranks, context.launch_agent);
  }
  if (const int signal = fatal_signal(node)) {
    return fmt::format(
        "{} was killed by signal {} ({}){}", who, signal, strsignal(signal),
        signal == SIGKILL ? "; somebody sent it, or the kernel was out of memory (see dmesg)" : "");
  }
  if (WEXITSTATUS(status) == kExitLostChannel) {
    return fmt::format(
        "{} has lost its control channel to tmpirun: a rank has closed descriptors that are not its own, or "
        "somebody has cut the connection or written to it",
        who);
  }
  if (!node.hello && !node.remote() && WEXITSTATUS(status) == kExitNoDescriptors)
    return "cannot give the node process its channels: raise the limit on open files (ulimit -n)";
  if (!node.hello && !node.remote() && WEXITSTATUS(status) == kExitNotFound)
    return fmt::format("cannot start the node process, {}: it was there a moment ago", context.executable);
  // No rank has run yet that could have said this.
  if (!node.hello && WEXITSTATUS(status) == kExitNoMemory)
    return fmt::format("{} had no memory to start", who);
  if (WEXITSTATUS(status) == kExitNoMemory)
    return fmt::format("{} had no memory left to go on (or a rank called _exit({}) past tmpi)", who,
                       kExitNoMemory);
  return fmt::format(
      "{} ended with exit code {} before its ranks had; a rank called _exit or the like past tmpi", who,
      WEXITSTATUS(status));
}

}  // namespace tmpi::launch
