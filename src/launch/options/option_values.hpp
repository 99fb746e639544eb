// How the value of each option is read: into the job, or the program of the section that it stands in. Each of these
// functions returns what is wrong with the value, empty if nothing is. The options themselves: options_table.cpp.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "launch/options/options.hpp"

namespace tmpi::launch::option_values {

std::string set_ranks(OptionTarget target, std::string_view value);
std::string set_vratio(OptionTarget target, std::string_view value);
std::string set_workers(OptionTarget target, std::string_view value);
std::string set_nodes(OptionTarget target, std::string_view value);
std::string set_per_node(OptionTarget target, std::string_view value);
std::string set_host_list(OptionTarget target, std::string_view value);
std::string set_host_file(OptionTarget target, std::string_view value);
std::string set_launch_agent(OptionTarget target, std::string_view value);
std::string set_net(OptionTarget target, std::string_view value);
std::string set_eager_limit(OptionTarget target, std::string_view value);
std::string set_rendezvous(OptionTarget target, std::string_view value);
std::string set_stack_size(OptionTarget target, std::string_view value);
std::string set_slot_size(OptionTarget target, std::string_view value);
std::string set_checkpoint(OptionTarget target, std::string_view value);
std::string set_survive(OptionTarget target, std::string_view value);
std::string set_spare_hosts(OptionTarget target, std::string_view value);
std::string set_restart(OptionTarget target, std::string_view value);
std::string set_policy(OptionTarget target, std::string_view value);
std::string set_progress(OptionTarget target, std::string_view value);
std::string set_balance(OptionTarget target, std::string_view value);
std::string set_file_io(OptionTarget target, std::string_view value);
std::string set_sleep(OptionTarget target, std::string_view value);
std::string set_pid(OptionTarget target, std::string_view value);
std::string set_coll(OptionTarget target, std::string_view value);
std::string add_export(OptionTarget target, std::string_view value);
std::string set_input(OptionTarget target, std::string_view value);
std::string set_rankfile(OptionTarget target, std::string_view value);
std::string set_app_file(OptionTarget target, std::string_view value);
std::string set_wdir(OptionTarget target, std::string_view value);
std::string set_wrapper(OptionTarget target, std::string_view value);
std::string set_output_directory(OptionTarget target, std::string_view value);
std::string set_profile(OptionTarget target, std::string_view value);
std::string set_report(OptionTarget target, std::string_view value);
std::string set_explore(OptionTarget target, std::string_view value);
std::string set_explored(OptionTarget target, std::string_view value);
std::string set_trace_buffer(OptionTarget target, std::string_view value);
std::string set_job(OptionTarget target, std::string_view value);
std::string set_no_deadlock_check(OptionTarget target, std::string_view value);
std::string set_polling_limit(OptionTarget target, std::string_view value);
std::string set_preempt(OptionTarget target, std::string_view value);
std::string set_merge_output(OptionTarget target, std::string_view value);
std::string set_help(OptionTarget target, std::string_view value);

/// A path as seen from here: the node process may be started elsewhere.
std::string absolute(std::string_view path);
/// Of all topics of the help text.
std::string topic_names(std::string_view between);

template <std::vector<std::string> JobSpec::*Field>
std::string add_to(OptionTarget target, std::string_view value) {
  (target.settings.job.*Field).emplace_back(value);
  return value.empty() || value.find('/') != std::string_view::npos
             ? "expected a library's name, as in libfoo.so.3"
             : "";
}

template <double Settings::*kMember>
std::string set_seconds(OptionTarget target, std::string_view value) {
  const std::string text(value);
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds > 0 && seconds <= 1e9))
    return "expected a number of seconds greater than 0";
  target.settings.*kMember = seconds;
  return {};
}

template <std::string JobSpec::*Field>
std::string set_file(OptionTarget target, std::string_view value) {
  target.settings.job.*Field = absolute(value);
  return value.empty() ? "expected a file" : "";
}

template <bool JobSpec::*Field>
std::string set_job_flag(OptionTarget target, std::string_view value) {
  target.settings.job.*Field = value == "1";
  return {};
}

template <Tags Kind>
std::string set_tags(OptionTarget target, std::string_view value) {
  target.settings.tags = value == "1" ? Kind : Tags::kNone;
  return {};
}

/// `value`: what the task is about, if it takes something.
template <Settings::Task Task>
std::string set_task(OptionTarget target, std::string_view value) {
  target.settings.task = Task;
  target.settings.asked = value;
  return {};
}

template <Settings::Task Task>
std::string set_hosts_task(OptionTarget target, std::string_view value) {
  const Result<std::vector<HostSlots>> hosts = parse_host_list(value);
  return hosts ? set_task<Task>(target, value) : hosts.message();
}

}  // namespace tmpi::launch::option_values
