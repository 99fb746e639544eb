#include "launch/spec/node_spec.hpp"

#include <doctest/doctest.h>

#include <random>

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
  sample.job.rendezvous = "rts-cts";
  sample.job.eager_release = 250;
  sample.node.node = 1;
  sample.node.hosts = {"alpha", "beta"};
  sample.node.node_of = {0, 0, 1, 1, 0, 1};
  sample.node.share = 1;
  sample.node.sharers = 2;
  sample.node.same_machine = false;
  sample.node.universe = 12;
  sample.node.job = ~std::uint64_t{0};
  sample.node.ports = ~std::uint64_t{1};
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
  CHECK(got->job.eager_release == 250);
  CHECK(got->job.rendezvous == "rts-cts");
  CHECK(got->node.node == 1);
  CHECK(got->node.hosts == sent.node.hosts);
  CHECK(got->node.node_of == sent.node.node_of);
  CHECK(got->node.share == 1);
  CHECK(got->node.sharers == 2);
  CHECK_FALSE(got->node.same_machine);
  CHECK(got->node.universe == 12);
  CHECK(got->node.job == sent.node.job);
  CHECK(got->node.ports == sent.node.ports);
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

}  // namespace
}  // namespace tmpi::launch
