#include "launch/options/compatibility.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace tmpi::launch {
namespace {

// Accepted and fulfilled without doing anything: ranks always share cores, root is nobody special, the
// environment is passed on anyway.
std::string accept(OptionTarget, std::string_view) {
  return {};
}

std::string pass_over(OptionTarget target, std::string_view value) {
  std::string words(target.spelling);
  if (value != "1") words.append(" ").append(value);
  target.settings.passed_over.push_back(std::move(words));
  return {};
}

std::string pass_over_pair(OptionTarget target, std::string_view value) {
  return pass_over(target, value.substr(0, value.find('=')));  // --mca NAME: one is like the other
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

// What ranks can be spread over inside a node process, where neighbours share a worker.
constexpr auto kPlaces = std::to_array<std::string_view>(
    {"slot", "core", "hwthread", "socket", "package", "numa", "l1cache", "l2cache", "l3cache", "board"});

// Qualifiers of --map-by that are so anyway.
constexpr auto kMapFulfilled = std::to_array<std::string_view>(
    {"span", "oversubscribe", "inherit", "noinherit", "corecpus", "overload-allowed"});

bool is_one_of(const auto& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string set_per_node(OptionTarget target, std::string_view value) {
  const Result<long> number = parse_number(value, 1, 1'000'000);
  if (!number) return number.message();
  target.settings.per_node = static_cast<int>(*number);
  return {};
}

template <MapBy By>
std::string set_mapping(OptionTarget target, std::string_view) {
  target.settings.map_by = By;
  return {};
}

// Which rank of a node process gets which number is settled there: neighbours share a worker.
std::string set_rank_by(OptionTarget target, std::string_view value) {
  if (lower_case(value).starts_with("node")) target.settings.map_by = MapBy::kCyclic;
  return {};
}

std::string set_one_per_node(OptionTarget target, std::string_view) {
  target.settings.per_node = 1;
  return {};
}

std::string set_ppr(OptionTarget target, std::string_view value) {
  return set_map_by(target, fmt::format("ppr:{}", value));
}

template <bool Bind>
std::string set_bound(OptionTarget target, std::string_view) {
  target.settings.job.bind = Bind;
  return {};
}

std::string add_variable(OptionTarget target, std::string_view value) {
  if (value.starts_with('=') || value.find('=') == value.npos) return "expected a name and a value";
  target.app.environment.emplace_back(value);
  return {};
}

std::string add_variable_for_all(OptionTarget target, std::string_view value) {
  if (value.starts_with('=') || value.find('=') == value.npos) return "expected a name and a value";
  target.settings.environment.emplace_back(value);
  return {};
}

// Only these start node processes on other machines with a command; what else is known by name is found without.
std::string set_launcher(OptionTarget target, std::string_view value) {
  if (value != "ssh" && value != "rsh") return pass_over(target, value);
  if (target.settings.launch_agent == "ssh") target.settings.launch_agent = value;
  return {};
}

std::string set_launcher_path(OptionTarget target, std::string_view value) {
  target.settings.launch_agent = value;
  return value.empty() ? "expected a command" : "";
}

std::string set_interface(OptionTarget target, std::string_view value) {
  if (target.settings.job.net != "tcp" && target.settings.job.net != "auto") return pass_over(target, value);
  target.settings.job.net = fmt::format("tcp:interface={}", value);
  return {};
}

std::string set_mca(OptionTarget target, std::string_view value) {
  const std::size_t equals = value.find('=');
  const std::string_view name = value.substr(0, equals);
  const std::string_view setting = value.substr(equals + 1);
  if (name == "btl_tcp_if_include" && setting.find_first_of(",/") == std::string_view::npos)
    return set_interface(target, setting);
  return pass_over_pair(target, value);
}

std::string set_report(OptionTarget target, std::string_view) {
  target.settings.job.report_bindings = true;
  return {};
}

// Open MPI 5: "tag", "merge-stderr-to-stdout", "dir=DIRECTORY", separated by commas.
std::string set_output(OptionTarget target, std::string_view value) {
  for (const std::string& part : parts_of(value, ',')) {
    const std::string name = lower_case(part.substr(0, part.find('=')));
    if (name.starts_with("tag")) {
      target.settings.tags = Tags::kSource;
    } else if (name == "rank") {
      target.settings.tags = Tags::kRank;
    } else if (name.starts_with("merge")) {
      target.settings.merge_output = true;
    } else if ((name == "dir" || name == "directory") && part.size() > name.size() + 1) {
      target.settings.output_directory = part.substr(name.size() + 1);
    } else {
      pass_over(target, part);
    }
  }
  return {};
}

std::string show_version(OptionTarget target, std::string_view) {
  target.settings.task = Settings::Task::kVersion;
  return {};
}

constexpr std::string_view kPair = "NAME VALUE";

Option translated(std::string_view name, std::string_view aliases, std::string_view argument,
                  std::string (*apply)(OptionTarget, std::string_view)) {
  return {name, aliases, "", std::string(argument), "", "", apply};
}

const std::vector<Option>& table() {
  static const std::vector<Option> all = {
      // Fulfilled.
      translated("--oversubscribe", "", "", accept),
      translated("--allow-run-as-root", "--noprefix", "", accept),
      translated("--report-state-on-timeout", "--get-stack-traces", "", accept),  // --timeout always does
      translated("-envall", "-genvall", "", accept),
      translated("-envlist", "-genvlist", "NAMES", accept),
      // Translated: who runs where.
      translated("--rank-by", "--rankby", "UNIT", set_rank_by),
      // Open MPI 6 changes options of the program that it starts (tmpi-node) into these, as if they were its own.
      translated("--mapby", "", "UNIT", set_map_by),
      translated("--bindto", "", "UNIT", set_binding),
      translated("--bynode", "-rr", "", set_mapping<MapBy::kCyclic>),
      translated("--byslot", "--bycore --bysocket", "", set_mapping<MapBy::kBlock>),
      translated("--pernode", "", "", set_one_per_node),
      translated("--ppr", "", "N:UNIT", set_ppr),
      translated("--bind-to-core", "", "", set_bound<true>),
      translated("--bind-to-none", "--bind-to-socket", "", set_bound<false>),
      translated("-launcher", "-bootstrap", "NAME", set_launcher),
      translated("-launcher-exec", "-bootstrap-exec", "PATH", set_launcher_path),
      translated("-iface", "", "INTERFACE", set_interface),
      translated("--mca", "--omca --gmca --pmca --prtemca --pmixmca", kPair, set_mca),
      // Translated: environment and output.
      translated("-env", "", kPair, add_variable),
      translated("-genv", "", kPair, add_variable_for_all),
      translated("--output", "", "LIST", set_output),
      translated("--display-map",
                 "--display-devel-map --display-diffable-map --display-allocation --display-devel-allocation "
                 "--display-topo -print-rank-map",
                 "", set_report),
      translated("--display", "", "LIST",
                 [](OptionTarget target, std::string_view) { return set_report(target, ""); }),
      translated("-info", "", "", show_version),
      // Without a meaning here.
      translated("-envnone", "-genvnone", "", pass_over),
      translated("--use-hwthread-cpus", "--use-hwthreads-as-cpus --nooversubscribe --nolocal --novm", "",
                 pass_over),
      translated("--hetero-nodes",
                 "--do-not-resolve --leave-session-attached --debug-daemons --show-progress", "", pass_over),
      translated("--enable-recovery", "--disable-recovery --continuous --report-child-jobs-separately", "",
                 pass_over),
      translated("--timestamp-output", "--timestamp --xml --output-proctable", "", pass_over),
      translated("--enable-instant-on-support", "--fwd-mpirun-port --use-regexp --debug-devel -d -pmi-port",
                 "", pass_over),
      translated("-enable-x",
                 "-disable-x -print-all-exitcodes -disable-auto-cleanup -disable-hostname-propagation", "",
                 pass_over),
      translated("-skip-launch-node", "-hostname-propagation -no-hostname-propagation", "", pass_over),
      translated("--prefix",
                 "--personality --tune -am --forward-signals --max-restarts --ompi-server --with-ft", "VALUE",
                 pass_over),
      translated("-membind", "-topolib -demux -localhost -usize -rmk -order-nodes -gpus-per-proc -nameserver",
                 "VALUE", pass_over),
      translated("-soft", "-arch -initial-errhandler", "VALUE", pass_over),
      translated("--report-pid", "--report-uri --report-events --max-vm-size --xml-file --cartofile -cf",
                 "VALUE", pass_over),
  };
  return all;
}

struct Counterpart {
  std::string_view option;
  std::string_view what;
};

constexpr auto kCounterparts = std::to_array<Counterpart>({
    {"ntasks", "-n N"},
    {"ntasks-per-node", "--npernode N"},
    {"n-per-node", "--npernode N"},
    {"npersocket", "--npernode N"},
    {"num-nodes", "--nodes K or --host LIST"},
    {"label", "--tag-output, or -l for the rank alone"},
    {"prefix-output", "--tag-output, or -l for the rank alone"},
    {"prepend-pattern", "--tag-output, or -l for the rank alone"},
    {"outfile-pattern", "--output-filename DIR"},
    {"errfile-pattern", "--output-filename DIR"},
    {"output-directory", "--output-filename DIR"},
    {"chdir", "--wdir DIR"},
    {"cwd", "--wdir DIR"},
    {"path", "the program's path, or -x PATH=LIST"},
    {"export", "-x VAR=VALUE"},
    {"time", "--timeout SECONDS"},
    {"nodelist", "--host LIST"},
    {"w", "--host LIST"},
    {"cpu-bind", "--bind-to core|none"},
    {"cpu-set", "taskset -c LIST in front of tmpirun"},
    {"cpu-list", "taskset -c LIST in front of tmpirun"},
    {"gdb", "tmpi-gdb, or --wrapper \"gdb --args\""},
    {"debug", "tmpi-gdb, or --wrapper \"gdb --args\""},
    {"tv", "tmpi-gdb, or --wrapper \"gdb --args\""},
    {"xterm", "--output-filename DIR or --tag-output"},
    {"trace-mpi", "--trace FILE"},
    {"stack", "--stack-size SIZE"},
    {"oversubscription", "--vratio V"},
});

}  // namespace

std::string set_map_by(OptionTarget target, std::string_view value) {
  if (const Choice<MapBy>* chosen = find_choice(kMapBy, value)) {
    target.settings.map_by = chosen->value;
    return {};
  }
  const std::vector<std::string> parts = parts_of(lower_case(value), ':');
  std::size_t next = 1;
  if (parts[0] == "ppr" && parts.size() >= 3 && parts[2] == "node") {
    if (std::string problem = set_per_node(target, parts[1]); !problem.empty()) return problem;
    target.settings.map_by = MapBy::kBlock;
    next = 3;
  } else if (const Choice<MapBy>* chosen = find_choice(kMapBy, parts[0])) {
    target.settings.map_by = chosen->value;
  } else if (is_one_of(kPlaces, parts[0]) || parts[0].empty()) {
    target.settings.map_by = MapBy::kBlock;
  } else {
    return fmt::format(
        "accepted are {}; of other launchers' values ppr:N:node, and slot, core, socket, numa and the like "
        "as block",
        list_choices(kMapBy, ", ", " and ", "'"));
  }
  for (; next < parts.size(); ++next) {
    if (parts[next].starts_with("pe=")) {
      if (std::string problem = set_cpus_per_rank(target, parts[next].substr(3)); !problem.empty())
        return problem;
    } else if (!is_one_of(kMapFulfilled, parts[next])) {
      pass_over(target, ":" + parts[next]);
    }
  }
  return {};
}

std::string set_cpus_per_rank(OptionTarget target, std::string_view value) {
  int& cpus = target.settings.job.cpus_per_rank;
  if (value == "auto") {
    cpus = kByThreads;
    return {};
  }
  const Result<long> number = parse_number(value, 1, 4096);
  if (!number) return number.message() + "; or 'auto'";
  cpus = static_cast<int>(*number);
  return {};
}

std::string set_binding(OptionTarget target, std::string_view value) {
  const std::string name = lower_case(value.substr(0, value.find(':')));
  constexpr auto kWithinCore =
      std::to_array<std::string_view>({"core", "hwthread", "l1cache", "l2cache", "rr"});
  constexpr auto kWider =
      std::to_array<std::string_view>({"none", "l3cache", "numa", "socket", "package", "board", "machine"});
  if (!is_one_of(kWithinCore, name) && !is_one_of(kWider, name)) {
    return fmt::format(
        "accepted are {}; of other launchers' values hwthread as core, socket, numa and the like as none",
        list_choices(kBindings, ", ", " and ", "'"));
  }
  target.settings.job.bind = is_one_of(kWithinCore, name);
  return {};
}

std::span<const Option> compatibility_table() {
  return table();
}

std::string_view counterpart(std::string_view option) {
  const auto* found = std::ranges::find(kCounterparts, without_dashes(option), &Counterpart::option);
  return found == kCounterparts.end() ? std::string_view() : found->what;
}

std::string passed_over_sentence(const Settings& settings) {
  const auto& all = settings.passed_over;
  if (all.empty()) return {};
  return fmt::format("{} mean{} nothing here and {} passed over", fmt::join(all, ", "),
                     all.size() == 1 ? "s" : "", all.size() == 1 ? "is" : "are");
}

}  // namespace tmpi::launch
