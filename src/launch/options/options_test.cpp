#include "launch/options/options.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>

#include "launch/options/compatibility.hpp"
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
  CHECK(parsed({"--profile", "p"}).job.profile_table);
  CHECK(parsed({"--report", "run.html", "p"}).job.profile);
  CHECK_FALSE(parsed({"--report", "run.html", "p"}).job.profile_table);
  CHECK(parsed({"--report", "run.html", "p"}).job.report_file.ends_with("/run.html"));
  CHECK(parsed({"--report", "run.html", "p"}, {{"TMPI_PROFILE", "0"}}).job.profile);
  CHECK(parsed({"--profile=/tmp/a b", "p"}).job.profile_file == "/tmp/a b");
  CHECK(parsed({"--profile=out.json", "p"}).job.profile_file.ends_with("/out.json"));
  CHECK(parsed({"--profile=out.json", "p"}).job.profile_file.starts_with("/"));
  CHECK(parsed({"p"}, {{"TMPI_PROFILE", "1"}}).job.profile);
  CHECK(parsed({"p"}, {{"TMPI_PROFILE", "1"}}).job.profile_file.empty());
  CHECK_FALSE(parsed({"p"}, {{"TMPI_PROFILE", "0"}}).job.observed());
  CHECK(parsed({"--trace", "/t", "--trace-buffer", "2M", "p"}).job.trace_buffer == 2 << 20);
  CHECK(parsed({"--explore", "p"}).explore_seconds == 0);
  CHECK(parsed({"--explore=1", "p"}).explore_seconds == 1);
  CHECK(parsed({"--explore", "p"}).task == Settings::Task::kExplore);
  CHECK(parsed({"--explored", "f", "--explore=5", "p"}, {{"TMPI_EXPLORE", "5"}}).task ==
        Settings::Task::kRun);
  CHECK(parsed({"--record", "/t", "p"}).job.record_file == "/t");
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
  CHECK(complaint({"-n", "9", "--vratio", "2", "--workers", "3", "p"})
            .find("has room for 6 ranks, but the job has 9") != std::string::npos);
  CHECK(complaint({"-n"}) == "-n needs a value: -n N");
  CHECK(complaint({"-n", "3"}).starts_with("no program given"));
  CHECK(complaint({"p", ":"}) == "no program after the last ':'");
  CHECK(parsed({"--wdir", "/tmp", "p", ":", "q"}).job.apps[1].wdir.empty());
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
  const Settings fewer = parsed({"--nodes", "3", "-n", "2", "p"});
  CHECK(fewer.nodes == 2);
  CHECK(fewer.warnings ==
        Words{"--nodes 3 with 2 ranks: every node process needs at least one, so there are 2"});
  CHECK(complaint({"--nodes", "2", "-n", "2", "--host", "a,b", "p"}).find("Give only one of the two") !=
        std::string::npos);
  CHECK(parsed({"-host", "a", "--host", "b:2,a", "-n", "4", "p"}).hosts ==
        std::vector<HostSlots>{{"a", 2}, {"b", 2}});
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
  CHECK(mapped("node:PE=4").job.cpus_per_rank == 4);
  CHECK(mapped("ppr:1:node:PE=2:SPAN").job.cpus_per_rank == 2);
  CHECK(complaint({"--map-by", "slot:PE=x", "p"}).find("auto") != std::string::npos);
  CHECK(mapped("ppr:2:node").per_node == 2);
  for (const char* value : {"hwthread", "core:overload-allowed", "core:2", "l2cache"})
    CHECK_MESSAGE(parsed({"--bind-to", value, "p"}).job.bind, value);
  for (const char* value : {"none", "socket", "numa", "l3cache", "package"})
    CHECK_FALSE_MESSAGE(parsed({"--bind-to", value, "p"}).job.bind, value);
  CHECK(parsed({"-bynode", "p"}).map_by == MapBy::kCyclic);
  CHECK(parsed({"--rank-by", "node", "p"}).map_by == MapBy::kCyclic);
  CHECK(parsed({"--rankby", "node", "p"}).map_by == MapBy::kCyclic);
  CHECK(parsed({"-n", "4", "--mapby", "cyclic", "p"}).map_by == MapBy::kCyclic);
  CHECK_FALSE(parsed({"--bindto", "none", "p"}).job.bind);
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

TEST_CASE("a variable that is not set is warned of") {
  const Settings settings = parsed({"-x", "TMPI_SURELY_UNSET", "p"});
  CHECK(settings.job.apps[0].environment.empty());
  REQUIRE(settings.warnings.size() == 1);
  CHECK(settings.warnings[0].starts_with("-x TMPI_SURELY_UNSET: the variable is not set in tmpirun's"));
  CHECK(complaint({"-x", "=1", "p"}) == "-x =1: expected VAR or VAR=VALUE");
}

TEST_CASE("Hydra's variables in one word") {
  CHECK(parsed({"-genv", "A=1", "-env", "B=2 3", "p"}).job.apps[0].environment == Words{"A=1", "B=2 3"});
  CHECK(parsed({"-genv", "A", "x=1", "p"}).job.apps[0].environment == Words{"A=x=1"});
}

TEST_CASE("the time limit that other launchers read from the environment") {
  CHECK(parsed({"p"}, {{"MPIEXEC_TIMEOUT", "7"}}).timeout == doctest::Approx(7));
  CHECK(parsed({"p"}, {{"MPIEXEC_TIMEOUT", "7"}, {"TMPI_TIMEOUT", "5"}}).timeout == doctest::Approx(5));
  CHECK(parsed({"--timeout", "3", "p"}, {{"MPIEXEC_TIMEOUT", "7"}}).timeout == doctest::Approx(3));
  for (const char* none : {"", "0", "-1"})
    CHECK(parsed({"p"}, {{"MPIEXEC_TIMEOUT", none}}).timeout == doctest::Approx(0));
  CHECK(complaint({"p"}, {{"MPIEXEC_TIMEOUT", "soon"}}) ==
        "MPIEXEC_TIMEOUT=soon: expected a number of seconds greater than 0");
}

TEST_CASE("whose standard input") {
  CHECK(parsed({"p"}).job.input_rank == 0);
  CHECK(parsed({"-n", "3", "--stdin", "2", "p"}).job.input_rank == 2);
  CHECK(parsed({"-s", "all", "p"}).job.input_rank == kInputToAll);
  CHECK(parsed({"-stdin", "none", "p"}).job.input_rank == kInputToNone);
  CHECK(complaint({"-n", "3", "--stdin", "3", "p"}) == "--stdin 3: there is no such rank, the job has 3");
  CHECK(complaint({"--stdin", "some", "p"}).starts_with("--stdin some: expected the number of a rank"));
}

/// A file with this text.
class File {
 public:
  explicit File(std::string_view text) {
    const int fd = mkstemp(path_.data());
    REQUIRE(fd >= 0);
    REQUIRE(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(fd);
  }
  ~File() { unlink(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/tmpi-options-test-XXXXXX";
};

TEST_CASE("programs in a file") {
  const File file(
      "# the job\n-n 2 -x A=1 ./a 'one # word' \\\n  two # and no more\n\n-np 3 ./b :\r\n./c : -n 4 ./d\n");
  const Settings settings = parsed({"--vratio", "2", "-x", "B=2", "--app", file.path()});
  const std::vector<AppSpec>& apps = settings.job.apps;
  REQUIRE(apps.size() == 4);
  CHECK(apps[0].arguments == Words{"./a", "one # word", "two"});
  CHECK(apps[0].environment == Words{"B=2", "A=1"});
  CHECK(apps[1].ranks == 3);
  CHECK(apps[1].environment == Words{"B=2"});
  CHECK(apps[2].program == "./c");
  CHECK(apps[3].ranks == 4);
  CHECK(settings.job.vratio == 2);
  CHECK(parsed({"-configfile", file.path()}).job.total_ranks() == 10);
  CHECK(complaint({"--app", file.path(), "./e"}).find("'./e' stands behind it") != std::string::npos);
  CHECK(complaint({"--app", "/no/such"}).starts_with("--app /no/such: cannot read the file"));
  CHECK(complaint({"--app", File("# nothing\n").path()}).ends_with("there is no program in it"));
  CHECK(complaint({"--app", File("./a\n-n two ./b\n").path()})
            .ends_with(", line 2: -n two: expected a whole number"));
  CHECK(complaint({"--app", File("--app x\n").path()}).ends_with("such a file cannot name another one"));
}

TEST_CASE("places of ranks in a file") {
  const File file("rank 1=beta slot=1:0\nrank 0 = alpha slot = 3 # first\nrank 2=alpha slot=0\n");
  const Settings settings = parsed({"--rankfile", file.path(), "p"});
  CHECK(settings.job.total_ranks() == 3);
  CHECK(settings.hosts == std::vector<HostSlots>{{"alpha", 1}, {"beta", 1}});
  CHECK(settings.placed_on == std::vector<int>{0, 1, 0});
  CHECK(settings.job.cores == std::vector<RankCore>{{-1, 3}, {1, 0}, {-1, 0}});
  CHECK(parsed({"-rf", file.path(), "-n", "2", "p"}).job.cores.size() == 2);
  CHECK(parsed({"--host", "beta,alpha", "-rf", file.path(), "p"}).placed_on == std::vector<int>{1, 0, 1});
  CHECK(complaint({"--host", "gamma", "-rf", file.path(), "p"})
            .starts_with("--rankfile: host alpha is not among those of --host"));
  CHECK(complaint({"-n", "4", "-rf", file.path(), "p"}) ==
        "--rankfile: the job has 4 ranks, the file lines for 3");
  CHECK(complaint({"--vratio", "2", "-rf", file.path(), "p"}).starts_with("--rankfile with --vratio"));
  const File relative("rank 0=+n1\nrank 1=+n0\n");
  CHECK(parsed({"--nodes", "2", "-rf", relative.path(), "p"}).placed_on == std::vector<int>{1, 0});
  CHECK(parsed({"--nodes", "2", "-rf", relative.path(), "p"}).job.cores.empty());
  CHECK(complaint({"-rf", relative.path(), "p"}).find("+n1 is the number of a host") != std::string::npos);
  const auto wrong = [](std::string_view text) { return complaint({"-rf", File(text).path(), "p"}); };
  CHECK(wrong("rank 0=a slot=0-3\n").find("line 1: slot=0-3: a rank runs on one core") != std::string::npos);
  CHECK(wrong("rank 0=a slot=x\n").find("line 1: slot=x is not understood") != std::string::npos);
  CHECK(wrong("rank 0=a slot=1:\n").find("is not understood") != std::string::npos);
  CHECK(wrong("rank 0=a slot=-1\n").find("one core") != std::string::npos);
  CHECK(wrong("0=a slot=1\n").find("line 1: '0=a' is not understood") != std::string::npos);
  CHECK(wrong("rank 0=a\nrank 0=b\n").ends_with("rank 0 has two lines"));
  CHECK(wrong("rank 0=a\nrank 2=b\n").ends_with("there is no line for rank 1"));
  CHECK(wrong("rank 0=a\nrank 1=b slot=1\n").ends_with("one has a core, the other has none"));
  CHECK(wrong("rank 0= slot=1\n").find("is no name of a host") != std::string::npos);
  CHECK(wrong("rank 0=a:2 slot=1\n").find("is no name of a host") != std::string::npos);
  CHECK(wrong("\n").ends_with("there is no rank in it"));
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
  for (const std::span<const Option> table : {option_table(), compatibility_table()}) {
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

TEST_CASE("help by topics: headings and options") {
  std::size_t shown = 0;
  for (const Topic& topic : topic_table()) {
    const auto settings = parsed({"--help=" + std::string(topic.name)});
    CHECK(settings.task == Settings::Task::kHelp);
    CHECK(settings.help_topic == topic.name);
    for (const Option& option : option_table()) {
      if (option.group != topic.heading) continue;
      CHECK(help_text(topic.name).find("  " + std::string(option.name)) != std::string::npos);
      CHECK(help_text(option.name).starts_with("  " + std::string(option.name)));
      ++shown;
    }
  }
  CHECK(shown + 3 == option_table().size());  // --print-options and --print-markdown belong nowhere
  CHECK(help_text("np") == help_text("-n"));
  const std::string sentence = complaint({"--help=nonesuch"});
  CHECK(sentence.find("topics are start, network, ranks, output, control") != std::string::npos);
  CHECK(help_text().find('\033') == std::string::npos);
  CHECK(help_text("start", true).starts_with("\033[1mWhat runs where:\033[0m\n  \033[36m-n, -np, -c N"));
}

TEST_CASE("the texts name every option once") {
  const std::string help = help_text();
  const std::string lines = option_lines();
  const std::string table = markdown_table();
  for (const Option& option : option_table()) {
    if (option.group.empty()) continue;
    CHECK(help.find("\n  " + std::string(option.name)) != std::string::npos);
    CHECK(table.find("| `" + std::string(option.name)) != std::string::npos);
    if (!option.variable.empty()) CHECK(lines.find(option.variable) != std::string::npos);
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
