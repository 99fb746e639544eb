#include "launch/spec/node_spec.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "launch/plan/remote_shell.hpp"
#include "launch/system/version.hpp"
#include "launch/wire/greeting.hpp"

namespace tmpi::launch {
namespace {

Assignment sample() {
  Assignment sample;
  AppSpec app;
  app.ranks = 3;
  app.program = "/bin/a";
  app.arguments = {"a", "", "two words"};
  sample.job.apps = {app, app};
  sample.job.net = "sim:fdr-ib";
  sample.job.eager_limit = 0;
  sample.node.node = 1;
  sample.node.hosts = {"alpha", "beta"};
  sample.node.node_of = {0, 0, 1, 1, 0, 1};
  sample.node.share = 1;
  sample.node.sharers = 2;
  sample.node.same_machine = false;
  sample.node.job = ~std::uint64_t{0};
  for (std::size_t i = 0; i < sample.node.secret.bytes.size(); ++i)
    sample.node.secret.bytes[i] = static_cast<unsigned char>(7 * i);
  sample.node.remote = true;
  sample.node.directory = "/home";
  sample.node.environment = {"A=b", "C=\nd"};
  return sample;
}

TEST_CASE("an assignment comes over whole") {
  const Assignment sent = sample();
  const Result<Assignment> got = unpack_assignment(pack(sent));
  REQUIRE(static_cast<bool>(got));
  CHECK(got->job.apps.size() == 2);
  CHECK(got->job.apps[1].arguments == sent.job.apps[1].arguments);
  CHECK(got->job.net == "sim:fdr-ib");
  CHECK(got->job.eager_limit == 0);
  CHECK(got->job.rendezvous == "rts-cts");
  CHECK(got->node.node == 1);
  CHECK(got->node.hosts == sent.node.hosts);
  CHECK(got->node.node_of == sent.node.node_of);
  CHECK(got->node.share == 1);
  CHECK(got->node.sharers == 2);
  CHECK_FALSE(got->node.same_machine);
  CHECK(got->node.job == sent.node.job);
  CHECK(got->node.secret.bytes == sent.node.secret.bytes);
  CHECK(got->node.remote);
  CHECK(got->node.directory == "/home");
  CHECK(got->node.environment == sent.node.environment);
}

TEST_CASE("an assignment that is cut short, or makes no sense, is refused") {
  const std::string whole = pack(sample());
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(static_cast<bool>(unpack_assignment(std::string_view(whole).substr(0, length))));
  Assignment wrong = sample();
  wrong.node.node_of.pop_back();  // a rank without a place
  CHECK_FALSE(static_cast<bool>(unpack_assignment(pack(wrong))));
  wrong = sample();
  wrong.node.node_of[2] = 2;  // a node process that is not there
  CHECK_FALSE(static_cast<bool>(unpack_assignment(pack(wrong))));
  wrong = sample();
  wrong.node.node = 2;
  CHECK_FALSE(static_cast<bool>(unpack_assignment(pack(wrong))));
  wrong = sample();
  wrong.node.share = 2;
  CHECK_FALSE(static_cast<bool>(unpack_assignment(pack(wrong))));
}

TEST_CASE("changed bytes give an assignment or a sentence") {
  const std::string whole = pack(sample());
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    std::string changed = whole;
    for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<char>(random());
    const Result<Assignment> got = unpack_assignment(changed);
    if (got) {
      const bool placed = got->node.node_of.empty() ||
                          got->node.node_of.size() == static_cast<std::size_t>(got->job.total_ranks());
      CHECK(placed);
    } else {
      CHECK_FALSE(got.message().empty());
    }
  }
}

TEST_CASE("greetings") {
  const Greeting own = own_greeting();
  const Greeting got = unpack_greeting(pack(own));
  CHECK(got.wire_version == own.wire_version);
  CHECK(got.version == kVersion);
  CHECK(got.host == own.host);
  CHECK_FALSE(got.machine.empty());
  CHECK(got.network == own.network);
  CHECK(unpack_greeting("").wire_version == 0);
  CHECK(unpack_greeting("GET / HTTP/1.1").wire_version == 0);
}

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
