#include "launch/options/options.hpp"

#include <doctest/doctest.h>

#include "launch/options/habits.hpp"
#include "launch/options/suggest.hpp"
#include "mpi/remote/rendezvous.hpp"
#include "net/transports.hpp"
#include "sched/policies.hpp"

namespace tmpi::launch {
namespace {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

Settings parsed(const Words& words, const Variables& variables = {}) {
  const Result<Settings> settings = parse_options(words, variables);
  REQUIRE_MESSAGE(static_cast<bool>(settings), (settings ? "" : settings.message()));
  return *settings;
}

std::string complaint(const Words& words, const Variables& variables = {}) {
  const Result<Settings> settings = parse_options(words, variables);
  REQUIRE_FALSE(static_cast<bool>(settings));
  return settings.message();
}

TEST_CASE("options end at the program's name") {
  const Settings settings = parsed({"-n", "4", "./prog", "-n", "7", "--vratio", "x"});
  REQUIRE(settings.job.apps.size() == 1);
  CHECK(settings.job.apps[0].ranks == 4);
  CHECK(settings.job.apps[0].arguments == Words{"./prog", "-n", "7", "--vratio", "x"});
  CHECK(parsed({"--", "-odd-name"}).job.apps[0].program == "-odd-name");
}

TEST_CASE("mpirun's spellings") {
  CHECK(parsed({"-np", "3", "p"}).job.apps[0].ranks == 3);
  CHECK(parsed({"--np", "3", "p"}).job.apps[0].ranks == 3);
  CHECK(parsed({"-wdir", "/tmp", "p"}).job.apps[0].wdir == "/tmp");
  CHECK(parsed({"-timeout", "2.5", "p"}).timeout == doctest::Approx(2.5));
  CHECK(parsed({"--stack-size=256k", "p"}).job.stack_size == 256 << 10);
  CHECK(parsed({"-x", "A=b=c", "-x", "D=", "p"}).job.apps[0].environment == Words{"A=b=c", "D="});
  CHECK(parsed({"--oversubscribe", "--allow-run-as-root", "-v", "-q", "p"}).job.verbose);
}

TEST_CASE("a value that may be left out") {
  CHECK_FALSE(parsed({"p"}).job.observed());
  CHECK(parsed({"--profile", "p"}).job.profile);
  CHECK(parsed({"--profile", "p"}).job.apps[0].program == "p");
  CHECK(parsed({"--profile", "p"}).job.profile_file.empty());
  CHECK(parsed({"--profile=/tmp/a b", "p"}).job.profile_file == "/tmp/a b");
  CHECK(parsed({"--profile=out.json", "p"}).job.profile_file.ends_with("/out.json"));
  CHECK(parsed({"--profile=out.json", "p"}).job.profile_file.starts_with("/"));
  CHECK(parsed({"p"}, {{"TMPI_PROFILE", "1"}}).job.profile);
  CHECK(parsed({"p"}, {{"TMPI_PROFILE", "1"}}).job.profile_file.empty());
  CHECK_FALSE(parsed({"p"}, {{"TMPI_PROFILE", "0"}}).job.observed());
  CHECK(parsed({"--trace", "/t", "--trace-buffer", "2M", "p"}).job.trace_buffer == 2 << 20);
  CHECK(complaint({"--trace-buffer", "10", "p"}) ==
        "--trace-buffer 10: a worker needs a buffer of at least 1k");
}

TEST_CASE("several programs") {
  const Settings settings = parsed({"-n", "2", "-x", "A=1", "a", "1", ":", "-n", "3", "--tag-output", "b"});
  REQUIRE(settings.job.apps.size() == 2);
  CHECK(settings.job.total_ranks() == 5);
  CHECK(settings.job.apps[0].arguments == Words{"a", "1"});
  CHECK(settings.job.apps[1].environment.empty());
  CHECK(settings.tags == Tags::kSource);
}

TEST_CASE("the environment gives defaults, the command line wins") {
  const Variables variables = {
      {"TMPI_VRATIO", "3"}, {"TMPI_N", "8"}, {"TMPI_TAG_OUTPUT", "yes"}, {"TMPI_QUIET", "0"}};
  CHECK(parsed({"p"}, variables).job.vratio == 3);
  CHECK(parsed({"p"}, variables).job.apps[0].ranks == 8);
  CHECK(parsed({"p"}, variables).tags == Tags::kSource);
  CHECK_FALSE(parsed({"p"}, variables).job.quiet);
  CHECK(parsed({"--vratio", "5", "p"}, variables).job.vratio == 5);
  CHECK(complaint({"p"}, {{"TMPI_VRATIO", "many"}}) == "TMPI_VRATIO=many: expected a whole number");
}

TEST_CASE("senseless values are refused with a sentence") {
  CHECK(complaint({"-n", "0", "p"}) == "-n 0: expected a whole number from 1 to 1000000");
  CHECK(complaint({"-n", "two", "p"}) == "-n two: expected a whole number");
  CHECK(complaint({"-n", "99999999999999999999", "p"}) ==
        "-n 99999999999999999999: expected a whole number from 1 to 1000000");
  CHECK(complaint({"--vratio", "-1", "p"}) == "--vratio -1: expected a whole number from 1 to 1000000");
  CHECK(complaint({"--stack-size", "1", "p"}) == "--stack-size 1: a rank needs a stack of at least 32k");
  CHECK(complaint({"--stack-size", "1T", "p"}).starts_with("--stack-size 1T: expected a size such as"));
  CHECK(complaint({"--sched", "random", "p"}).find("random:SEED") != std::string::npos);
  CHECK(complaint({"--coll", "ring", "p"}).starts_with("--coll ring: expected NAME=ALGORITHM"));
  CHECK(complaint({"--bind-to", "gpu", "p"}).find("'core'") != std::string::npos);
  CHECK(complaint({"--timeout", "0", "p"}) == "--timeout 0: expected a number of seconds greater than 0");
  CHECK(complaint({"-x", "TMPI_SURELY_UNSET", "p"}).find("is not set in tmpirun's environment") !=
        std::string::npos);
  CHECK(complaint({"-n", "9", "--vratio", "2", "--workers", "3", "p"})
            .find("has room for 6 ranks, but the job has 9") != std::string::npos);
  CHECK(complaint({"-n"}) == "-n needs a value: -n N");
  CHECK(complaint({"-n", "3"}).starts_with("no program given"));
  CHECK(complaint({"p", ":"}) == "no program after the last ':'");
  CHECK(complaint({"--wdir", "/tmp", "p", ":", "q"}).find("Give all of them the same --wdir") !=
        std::string::npos);
}

TEST_CASE("node processes and hosts") {
  CHECK(parsed({"-n", "4", "--nodes", "2", "--map-by", "node", "p"}).map_by == MapBy::kCyclic);
  CHECK(parsed({"-n", "4", "-H", "a:2,b", "p"}).hosts == std::vector<HostSlots>{{"a", 2}, {"b", 1}});
  CHECK(parsed({"p"}, {{"TMPI_HOST", "a"}, {"TMPI_SSH", "ssh -p 22"}}).launch_agent == "ssh -p 22");
  CHECK(parsed({"p"}).job.eager_limit == -1);
  CHECK(parsed({"--eager-limit", "0", "p"}).job.eager_limit == 0);
  CHECK(parsed({"--eager-limit", "64k", "p"}).job.eager_limit == 64 << 10);
  CHECK(parsed({"--eager-limit", "64k", "p"}).job.eager_release == 0);
  CHECK(parsed({"--eager-limit", "dynamic", "p"}).job.eager_release == 5000);
  CHECK(parsed({"--eager-limit", "dynamic:0.25", "p"}).job.eager_release == 250);
  CHECK(parsed({"--eager-limit", "dynamic", "p"}, {{"TMPI_EAGER_LIMIT", "1M"}}).job.eager_limit == -1);
  CHECK(parsed({"--eager-limit", "2K", "p"}, {{"TMPI_EAGER_LIMIT", "dynamic"}}).job.eager_release == 0);
  for (const char* wrong :
       {"dynamic:", "dynamic:0", "dynamic:-1", "dynamic:nan", "dynamic:1s", "dynamic:1e9"})
    CHECK(complaint({"--eager-limit", wrong, "p"}).find("expected seconds") != std::string::npos);
  CHECK(complaint({"--eager-limit", "dynamics", "p"}).find("or 'dynamic'") != std::string::npos);
  CHECK(parsed({"--net", "sim:fdr-ib", "--rndv", "read", "p"}).job.net == "sim:fdr-ib");
  CHECK(parsed({"--net", "help"}).task == Settings::Task::kTransports);
  CHECK(
      complaint({"--nodes", "3", "-n", "2", "p"}).starts_with("--nodes 3 with 2 ranks: every node process"));
  CHECK(complaint({"--nodes", "2", "-n", "2", "--host", "a,b", "p"}).find("Give only one of the two") !=
        std::string::npos);
  CHECK(complaint({"--host", "a:b", "p"}) == "--host a:b: 'b' is no number of slots (1 to 1000000)");
  CHECK(complaint({"--hostfile", "/no/such", "p"}).starts_with("--hostfile /no/such: cannot read the file"));
  CHECK(complaint({"--rndv", "push", "p"}).find("'early-cts'") != std::string::npos);
  CHECK(complaint({"--map-by", "seq", "p"}).find("'cyclic'") != std::string::npos);
}

TEST_CASE("what can be chosen is one table: parsed, listed, described") {
  CHECK(choose(kBindings, "none").choice->value == Binding::kNone);
  CHECK(choose(kBindings, "nonesuch").choice == nullptr);
  CHECK(choose(net::kTransports, "sim:fdr-ib").argument == "fdr-ib");
  CHECK(list_choices(sched::kPolicies, ", ", " or ") == "fifo, lifo or random:SEED");
  CHECK(describe_choices(kBindings) ==
        "core (default; each worker is pinned to a core of its own), none (the operating system moves "
        "workers)");
  const std::string help = help_text();
  for (const auto& row : kMapBy) {
    CHECK(parsed({"--map-by", std::string(row.name), "p"}).map_by == row.value);
    CHECK(complaint({"--map-by", "seq", "p"}).find(row.name) != std::string::npos);
  }
  for (const auto& row : mpi::remote::kRendezvousProtocols)
    CHECK(parsed({"--rndv", std::string(row.name), "p"}).job.rendezvous == row.name);
  for (const char* mode : {"auto", "poll", "thread", "core"}) {
    CHECK(parsed({"--progress", mode, "p"}).job.progress == mode);
    CHECK(parsed({"--progress", mode, "p"}).job.progress_cores == 1);
  }
  CHECK(parsed({"--progress", "core:3", "p"}).job.progress == "core");
  CHECK(parsed({"--progress", "core:3", "p"}).job.progress_cores == 3);
  CHECK(complaint({"--progress", "core:0", "p"}).find("1") != std::string::npos);
  for (const char* wrong : {"thread:2", "poll:", "cores", "core:x", "core:"})
    CHECK_MESSAGE(!complaint({"--progress", wrong, "p"}).empty(), wrong);
  for (const auto& row : sched::kPolicies) CHECK(help.find(row.name) != std::string::npos);
  CHECK(sched::parse_policy("random:7")->seed == 7);
}

TEST_CASE("unknown options get a suggestion") {
  CHECK(
      complaint({"--vration", "3", "p"}).starts_with("unknown option '--vration'; did you mean '--vratio'?"));
  CHECK(complaint({"--qqqqqqqqqqqq", "p"}).starts_with("unknown option '--qqqqqqqqqqqq'."));
}

TEST_CASE("options of other launchers are translated") {
  const auto mapped = [](const char* value) { return parsed({"-n", "4", "--map-by", value, "p"}); };
  for (const char* value : {"core", "hwthread", "slot", "socket", "numa", "l3cache", "SOCKET", "package:span",
                            "slot:OVERSUBSCRIBE"}) {
    CHECK_MESSAGE(mapped(value).map_by == MapBy::kBlock, value);
    CHECK_MESSAGE(mapped(value).passed_over.empty(), value);
  }
  CHECK(mapped("node:PE=4").map_by == MapBy::kCyclic);
  CHECK(mapped("node:PE=4").passed_over == Words{"--map-by :pe=4"});
  CHECK(mapped("ppr:2:node").per_node == 2);
  for (const char* value : {"hwthread", "core:overload-allowed", "core:2", "l2cache"})
    CHECK_MESSAGE(parsed({"--bind-to", value, "p"}).job.bind, value);
  for (const char* value : {"none", "socket", "numa", "l3cache", "package"})
    CHECK_FALSE_MESSAGE(parsed({"--bind-to", value, "p"}).job.bind, value);
  CHECK(parsed({"-bynode", "p"}).map_by == MapBy::kCyclic);
  CHECK(parsed({"--rank-by", "node", "p"}).map_by == MapBy::kCyclic);
  CHECK(parsed({"-l", "p"}).tags == Tags::kRank);
  CHECK(parsed({"--output", "tag,merge,dir=/tmp/x", "p"}).output_directory == "/tmp/x");
  CHECK(parsed({"--output", "tag,merge", "p"}).merge_output);
  CHECK(parsed({"-hosts", "a,b", "p"}).hosts.size() == 2);
  CHECK(parsed({"-launcher", "rsh", "p"}).launch_agent == "rsh");
  CHECK(parsed({"-launcher-exec", "/opt/ssh", "-launcher", "ssh", "p"}).launch_agent == "/opt/ssh");
  CHECK(parsed({"-iface", "eth1", "p"}).job.net == "tcp:interface=eth1");
  CHECK(parsed({"--mca", "btl_tcp_if_include", "eth1", "p"}).job.net == "tcp:interface=eth1");
  CHECK(parsed({"--print-rank-map", "p"}).job.report_bindings);
  CHECK(parsed({"-info"}).task == Settings::Task::kVersion);
}

TEST_CASE("variables in two words, and for all programs") {
  const Settings settings =
      parsed({"-genv", "A", "1", "-n", "1", "-env", "A", "2 3", "p", ":", "-n", "1", "q"});
  CHECK(settings.job.apps[0].environment == Words{"A=2 3"});
  CHECK(settings.job.apps[1].environment == Words{"A=1"});
  CHECK(parsed({"-x", "A=1", "-x", "AB=2", "-x", "A=3", "p"}).job.apps[0].environment ==
        Words{"A=3", "AB=2"});
  CHECK(complaint({"-env", "A"}) == "-env needs a name and a value: -env NAME VALUE");
  CHECK(complaint({"-env", "", "x", "p"}) == "-env =x: expected a name and a value");
}

TEST_CASE("ranks per node process") {
  const auto ranks = [](const Words& words, int slots = 0, int attached = 0) {
    const Result<Settings> settings = parse_options(words, {}, slots, attached);
    REQUIRE(static_cast<bool>(settings));
    return settings->job.total_ranks();
  };
  CHECK(ranks({"-N", "3", "p"}) == 3);
  CHECK(ranks({"-ppn", "3", "--nodes", "2", "p"}) == 6);
  CHECK(ranks({"--npernode", "3", "--host", "a:8,b", "p"}) == 6);
  CHECK(ranks({"-N", "3", "-n", "4", "--nodes", "2", "p"}) == 4);
  CHECK(ranks({"-pernode", "p"}, 16, 4) == 4);
  CHECK(ranks({"p"}, 16, 4) == 16);
}

TEST_CASE("options without a meaning here are passed over, and named in one sentence") {
  CHECK(passed_over_sentence(parsed({"--oversubscribe", "--allow-run-as-root", "-envall", "p"})).empty());
  CHECK(passed_over_sentence(parsed({"--mca", "btl", "^openib", "p"})) ==
        "--mca btl means nothing here and is passed over");
  CHECK(passed_over_sentence(parsed({"--use-hwthread-cpus", "-rmk", "pbs", "-launcher", "fork", "p"})) ==
        "--use-hwthread-cpus, -rmk pbs, -launcher fork mean nothing here and are passed over");
}

TEST_CASE("an unknown option is answered by meaning, then by spelling") {
  CHECK(complaint({"-outfile-pattern", "x", "p"})
            .starts_with(
                "unknown option '-outfile-pattern'; what serves its purpose here is --output-filename DIR."));
  CHECK(complaint({"--label", "p"}).find("--tag-output") != std::string::npos);
  CHECK(complaint({"--tag-outputs", "p"}).find("did you mean '--tag-output'?") != std::string::npos);
}

TEST_CASE("no option has two rows") {
  std::map<std::string, int> seen;
  for (const std::span<const Option> table : {option_table(), habit_table()}) {
    for (const Option& option : table) {
      std::string names = std::string(option.name) + " " + std::string(option.aliases);
      for (std::size_t at = 0; at < names.size();) {
        const std::size_t end = std::min(names.find(' ', at), names.size());
        if (end > at)
          CHECK_MESSAGE(++seen[std::string(without_dashes(names.substr(at, end - at)))] == 1, names);
        if (end > at) CHECK_MESSAGE(counterpart(names.substr(at, end - at)).empty(), names);
        at = end + 1;
      }
    }
  }
}

TEST_CASE("the texts name every option once") {
  const std::string help = help_text();
  const std::string manual = manual_page();
  const std::string table = markdown_table();
  for (const Option& option : option_table()) {
    if (option.group.empty()) continue;
    CHECK(help.find("\n  " + std::string(option.name)) != std::string::npos);
    CHECK(table.find("| `" + std::string(option.name)) != std::string::npos);
    if (!option.variable.empty()) CHECK(manual.find(option.variable) != std::string::npos);
  }
  CHECK(parsed({"--help"}).task == Settings::Task::kHelp);
  CHECK(parsed({"--coll", "help"}).task == Settings::Task::kCollectives);
  CHECK(parsed({"--version", "ignored"}).task == Settings::Task::kVersion);
}

}  // namespace
}  // namespace tmpi::launch

TEST_CASE("without -n a program gets a rank for each slot that others have given") {
  const auto ranks = [](std::vector<std::string> arguments,
                        const std::map<std::string, std::string>& variables) {
    const auto settings = tmpi::launch::parse_options(arguments, variables, 6);
    REQUIRE(settings);
    return settings->job.total_ranks();
  };
  CHECK(ranks({"p"}, {}) == 6);
  CHECK(ranks({"--vratio", "2", "p"}, {}) == 12);
  CHECK(ranks({"-n", "3", "p"}, {}) == 3);
  CHECK(ranks({"p"}, {{"TMPI_N", "4"}}) == 4);
}
