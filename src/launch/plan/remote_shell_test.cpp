#include "launch/plan/remote_shell.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace tmpi::launch {
namespace {

TEST_CASE("command lines of remote shells") {
  CHECK(shell_word("it's") == R"('it'\''s')");
  unsetenv("LD_LIBRARY_PATH");
  const auto command = remote_command("sh -p 22", "alpha", "/opt/it's/bin/tmpi-node");
  REQUIRE(static_cast<bool>(command));
  REQUIRE(command->size() == 5);
  CHECK((*command)[0].ends_with("sh"));
  CHECK((*command)[3] == "alpha");
  CHECK((*command)[4] == R"('/bin/sh' '-c' 'PATH="$0:$PATH" exec tmpi-node --remote' '/opt/it'\''s/bin')");
  setenv("LD_LIBRARY_PATH", "/a:/b", 1);
  const auto words = remote_command("sh -w {} x", "alpha", "/opt/bin/tmpi-node");
  unsetenv("LD_LIBRARY_PATH");
  REQUIRE(static_cast<bool>(words));
  CHECK((*words)[2] == "alpha");
  REQUIRE(words->size() == 9);
  CHECK((*words)[7] == "/opt/bin");
  CHECK((*words)[8] == "/a:/b");
  const auto wrapped = remote_command("sh", "alpha", "/opt/bin/tmpi-node", {"nice", "-n", "5", "it's"});
  REQUIRE(static_cast<bool>(wrapped));
  CHECK(wrapped->back().find(shell_word(
            R"(PATH="$0:$PATH" exec 'nice' '-n' '5' 'it'\''s' tmpi-node --remote)")) != std::string::npos);
  CHECK_FALSE(static_cast<bool>(remote_command("no-such-shell", "a", "/b")));
  CHECK_FALSE(static_cast<bool>(remote_command(" ", "a", "/b")));
}

TEST_CASE("why there is no node process on a host") {
  CHECK(explain_failed_start("ssh -p 1", "alpha", 255, "/opt/bin/tmpi-node", "a\nrefused\r\n") ==
        "cannot start a node process on host alpha: ssh -p 1 ended with exit code 255 (refused); check that "
        "`ssh -p 1 alpha true` works without a question");
  CHECK(explain_failed_start("on {}", "alpha", 1, "/opt/bin/tmpi-node", "")
            .ends_with("`on alpha true` works without a question"));
  CHECK(explain_failed_start("ssh", "alpha", 127, "/opt/bin/tmpi-node", "sh: not found") ==
        "tmpi-node is missing on host alpha: it is neither in /opt/bin nor in PATH there (sh: not found); "
        "install the same tmpi as here");
}

}  // namespace
}  // namespace tmpi::launch
