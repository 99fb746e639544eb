// The options of tmpirun: one table from which the command line is parsed, the TMPI_* environment variables
// are read, and --help, the manual page, the shells' completions and docs/reference/tmpirun.md are written. tmpirun's grammar is mpirun's: long
// options with one or two dashes, options end at the program's name, `:` starts the next program. (A general
// option library does not know that grammar, hence the small parser here.)
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/options/choices.hpp"
#include "launch/options/hosts.hpp"
#include "launch/options/rankfile.hpp"
#include "launch/spec/job_spec.hpp"
#include "launch/spec/tags.hpp"

namespace tmpi::launch {

/// Everything the command line and the environment said.
struct Settings {
  JobSpec job;
  int nodes = 0;                       ///< --nodes, 0: not given
  JobSpec saved;                       ///< --restart: what was running; without programs: not given
  std::vector<HostSlots> hosts;        ///< --host or --hostfile
  std::vector<HostSlots> spare_hosts;  ///< --spare-hosts
  int checkpoint_signal = 0;           ///< --checkpoint signal=, 0: none
  std::string hosts_from;              ///< which of the two, empty: none
  std::string host_list;               ///< what --host has said so far
  std::string launch_agent = "ssh";
  std::vector<std::string> wrapper;  ///< --wrapper: the command that starts node processes, and its arguments
  MapBy map_by = MapBy::kBlock;
  int per_node = 0;                 ///< --npernode, 0: not given
  std::vector<ChosenPlace> places;  ///< --rankfile, by rank
  std::vector<int> placed_on;       ///< the same as numbers of hosts, or of node processes
  Tags tags = Tags::kNone;
  bool merge_output = false;             ///< --merge-stderr-to-stdout
  std::vector<std::string> environment;  ///< -genv: "NAME=value" for all programs, before their own
  std::vector<std::string> passed_over;  ///< options that mean nothing here
  std::vector<std::string> warnings;     ///< sentences about what else is not as it was asked for
  std::string app_file;                  ///< --app, while the command line is being read
  std::string output_directory;          ///< --output-filename, empty: not given
  double timeout = 0;                    ///< seconds, 0: none
  double start_timeout = 60;             ///< seconds that hosts have to start their node processes
  double explore_seconds = 0;            ///< --explore=SECONDS, 0: until all is explored
  int asked_job = 0;                     ///< --job: tmpirun's process id, 0: the only one
  std::string asked;                     ///< what of it: the hosts of --add-host and --remove-host
  std::string help_topic;                ///< --help=TOPIC, empty: everything
  enum class Task {
    kRun,
    kHelp,
    kVersion,
    kOptions,
    kMarkdown,
    kCollectives,
    kTransports,
    kLibraries,
    kStacks,
    kCheckpointNow,
    kAddHosts,
    kRemoveHosts,
    kExplore
  } task = Task::kRun;
};

/// The task is asked of a job that runs (--job).
constexpr bool asks_job(Settings::Task task) {
  return task == Settings::Task::kStacks || task == Settings::Task::kCheckpointNow ||
         task == Settings::Task::kAddHosts || task == Settings::Task::kRemoveHosts;
}

/// What an option's value is written into: the job, and the program of the section the option stands in.
struct OptionTarget {
  Settings& settings;
  AppSpec& app;
  std::string_view spelling;  ///< of the option, as the user wrote it
};

struct Option {
  std::string_view name;  ///< "--vratio"; the spelling used in messages
  /// Further spellings, separated by blanks; every long name works with one dash too.
  std::string_view aliases;
  std::string_view variable;  ///< environment variable, empty: none
  /// What its value is called in the help text, empty: a flag; "[=FILE]": may be left out; "NAME VALUE": two
  /// words, which apply() gets as NAME=VALUE.
  std::string argument;
  std::string_view group;  ///< heading in the help text, empty: not shown there
  std::string help;
  /// Stores the value ("1" or "0" for a flag); returns what is wrong with it, empty if nothing is.
  std::string (*apply)(OptionTarget target, std::string_view value);
  std::string values =
      {};  ///< what its value can begin with, for shells: "fifo lifo random:"; empty: anything
};

/// The table, in the order of the help text.
std::span<const Option> option_table();

/// What the options of one heading are called in --help=TOPIC.
struct Topic {
  std::string_view name, heading;
};
std::span<const Topic> topic_table();

/// A heading's topic, or one of an option's spellings, with or without dashes.
bool is_topic(std::string_view topic);

/// Environment first, then the command line, which wins. `arguments` without the program's own name. A
/// program without -n gets what --npernode gives each of the node processes, of which others have started
/// `attached`; else a rank for each of `slots`, times --vratio; with 0 slots it gets one. A Failure's sentence
/// names the option and says what it accepts.
Result<Settings> parse_options(std::span<const std::string> arguments,
                               const std::map<std::string, std::string>& environment, int slots = 0,
                               int attached = 0);

/// "--wdir" and "-wdir" are the same, as for mpirun; "-n" and "--n" too.
std::string_view without_dashes(std::string_view word);

/// `word` is one of the option's spellings, however many dashes either has.
bool has_spelling(const Option& option, std::string_view word);

/// Option values as the table's functions read them (exposed for tests).
Result<long> parse_number(std::string_view text, long least, long most);
Result<std::size_t> parse_size(std::string_view text);  ///< "1M", "256k", "65536"

/// The texts generated from the table. Of the help text all, or what belongs to a topic; with a terminal's colours or without.
std::string help_text(std::string_view topic = {}, bool coloured = false);
std::string
option_lines();  ///< the table itself, a line for each option: what tools/program_options.py reads
std::string markdown_table();  ///< the table in docs/reference/tmpirun.md

}  // namespace tmpi::launch
