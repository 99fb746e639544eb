#include "launch/launcher/launcher.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/file_size_limit.hpp"
#include "launch/launcher/node_death.hpp"
#include "launch/system/program_path.hpp"

namespace tmpi::launch {
namespace {

constexpr std::chrono::milliseconds kLookForSilence{50};
constexpr std::chrono::milliseconds kLookForStuck{100};

// The order in which watch() puts what is not a node process's.
enum Watched : std::size_t { kSignals, kInput, kStdout, kStderr, kStarter, kStarterOutput, kNodes };

}  // namespace

Launcher::Launcher(const Settings& settings, JobPlan plan, Output& output, ProfileReport& profile,
                   TraceReport& trace, int signals, const Attempt& attempt)
    : attempt_(attempt),
      timeout_(attempt.timeout),
      job_(settings, std::move(plan), output, profile, trace),
      frames_(job_),
      signals_(job_, signals) {}

namespace {

// Node processes have the user's limit on the size of files (ulimit -f); what tmpirun writes of its own is not to be
// cut short by it, and an error rather than its end where it cannot be raised.
void write_without_limit() {
  struct sigaction before {};
  if (sigaction(SIGXFSZ, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) signal(SIGXFSZ, [](int) {});
  raise_file_size_limit();
}

}  // namespace

int Launcher::run() {
  if (const Result<void> started = job_.nodes.start(); started) {
    if (job_.plan.any_remote()) {
      start_timeout_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(job_.settings.start_timeout));
    }
    job_.start.begin();
  } else {
    job_.end.because(JobEnd::Cause::kStartFailed, 1, started.message());
    job_.end.kill_nodes();
  }
  write_without_limit();
  open_door();
  while (job_.nodes.any([](const Node& node) { return node.running(); })) poll_once();
  drain_after_death();
  return finish();
}

// The job does not need it.
void Launcher::open_door() {
  const Result<void> opened = job_.door.open();
  if (!opened && job_.settings.job.verbose)
    job_.output.message(fmt::format("tmpirun: the job cannot be asked by --job: {}\n", opened.message()));
}

void Launcher::watch(std::vector<pollfd>& requests, bool take_more) const {
  const auto add = [&](int fd, short events) { requests.push_back({fd, events, 0}); };
  add(signals_.descriptor(), POLLIN);
  add(job_.stdio.input_wanted() ? STDIN_FILENO : -1, POLLIN);
  for (const int stream : {1, 2}) {
    const Sink& sink = job_.output.sink(stream);
    add(sink.pending() > 0 ? sink.fd() : -1, POLLOUT);
  }
  add(job_.plan.starter.get(), POLLIN);
  add(take_more ? job_.stdio.starter_output() : -1, POLLIN);
  job_.nodes.watch(requests, take_more);
  job_.door.watch(requests);
  if (const JobLinks* links = job_.ports.links()) links->watch(requests);
}

void Launcher::poll_once() {
  const bool take_more = !job_.output.congested();
  std::vector<pollfd> requests;
  watch(requests, take_more);
  const std::size_t door = kNodes + NodeSet::kPollsPerNode * static_cast<std::size_t>(job_.nodes.planned());
  const std::size_t first_link = door + job_.door.watched();
  const int timeout = poll_timeout();
  const auto start = Clock::now();
  if (poll(requests.data(), requests.size(), timeout) < 0 && errno != EINTR) return;
  extend_deadlines(Clock::now() - start - std::chrono::milliseconds(timeout));
  if (requests[kSignals].revents != 0) signals_.on_readable();
  for (const auto& node : job_.nodes)
    serve(*node, requests.data() + kNodes + NodeSet::kPollsPerNode * node->number(), take_more);
  job_.door.serve(requests.data() + door);
  if (requests.size() > first_link)
    job_.ports.links()->serve(requests.data() + first_link, requests.size() - first_link);
  if (requests[kInput].revents != 0) job_.stdio.on_input();
  if (requests[kStarterOutput].revents != 0) job_.stdio.on_starter_output();
  if (requests[kStarter].revents != 0) on_starter_gone();
  leave_stuck();
  look_at_ended_nodes();
  on_deadlines();
  job_.output.flush();
  job_.stdio.check_outputs();
}

void Launcher::serve(Node& node, const pollfd* requests, bool take_more) {
  if ((requests[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && take_more) frames_.on_readable(node);
  if ((requests[0].revents & POLLOUT) != 0) node.flush();
  for (const int stream : {1, 2}) {
    if (requests[stream].revents != 0) job_.stdio.on_pipe(node, stream);
  }
}

int Launcher::poll_timeout() const {
  int wait = job_.output.idle_wait();
  for (const Deadline& deadline :
       {timeout_, start_timeout_, job_.end.kill_at(), job_.heartbeat.deadline(), job_.lost.deadline()})
    wait = sooner(wait, deadline);
  for (const auto& node : job_.nodes) wait = sooner(wait, node->stop_deadline());
  wait = sooner(wait, job_.ports.deadline());
  const bool any_ended =
      job_.nodes.any([](const Node& node) { return !node.running() && !node.end_handled; });
  if (any_ended) wait = sooner(wait, Clock::now() + kLookForSilence);
  return expects_ends() ? sooner(wait, Clock::now() + kLookForStuck) : wait;
}

// Not at each poll: that reads a file of /proc for each node process.
void Launcher::leave_stuck() {
  const auto now = Clock::now();
  if (!expects_ends() || now < looked_for_stuck_ + kLookForStuck) return;
  looked_for_stuck_ = now;
  job_.nodes.leave_stuck();
}

// Node processes are about to end, or have been killed: some may get stuck in it.
bool Launcher::expects_ends() const {
  return job_.lost.deadline() || job_.end.begun();
}

// tmpirun has slept longer than it wanted to: it was stopped. What the others have done meanwhile it sees now.
void Launcher::extend_deadlines(Clock::duration pause) {
  if (pause < kPause) return;
  if (start_timeout_) *start_timeout_ += pause;
  job_.end.extend(pause);
  job_.lost.extend(pause);
  job_.ports.extend(pause);
}

void Launcher::on_deadlines() {
  const auto now = Clock::now();
  job_.output.flush_idle();
  say_who_is_stopped();
  if (has_passed(timeout_, now)) {
    timeout_.reset();
    job_.end.because(
        JobEnd::Cause::kTimeout, kExitTimeout,
        fmt::format("the job was ended after its --timeout of {} seconds", job_.settings.timeout));
    job_.state_dumps.request("--timeout: every rank at this moment:", true);
  }
  if (has_passed(start_timeout_, now)) on_start_timeout();
  if (has_passed(job_.lost.deadline(), now) && job_.lost.expire()) end_nodes();
  if (has_passed(job_.heartbeat.deadline(), now)) job_.heartbeat.beat();
  if (has_passed(job_.ports.deadline(), now)) job_.ports.on_deadline();
  if (has_passed(job_.end.kill_at(), now)) {
    job_.state_dumps.show_incomplete();
    say_who_is_killed();
    job_.end.kill_nodes();
  }
}

void Launcher::on_start_timeout() {
  start_timeout_.reset();
  std::string hosts;
  const Node* missing = nullptr;
  for (const auto& node : job_.nodes) {
    if (node->hello || !node->running() || !node->remote()) continue;
    hosts += (hosts.empty() ? "" : ", ") + node->host();
    missing = node.get();
  }
  if (missing == nullptr) return;
  if (job_.end.because_of(
          JobEnd::Cause::kStartFailed, *missing, 1,
          fmt::format(
              "no node process has started on host {} within {} seconds: {} is still at it, and silent. Does "
              "it ask something, or wait for a network? --start-timeout waits longer",
              hosts, job_.settings.start_timeout, job_.settings.launch_agent)))
    end_nodes();
}

// The end has no other cause yet: the node process has closed its channel, and was to end.
void Launcher::say_who_is_killed() {
  job_.nodes.for_each_running([&](const Node& node) {
    if (node.control_open()) return;
    job_.end.because_of(
        JobEnd::Cause::kNodeDied, node, 1,
        fmt::format("{}, with {}, has closed its control channel and not ended; tmpirun has killed it",
                    job_.nodes.name_of(node), job_.ranks.unfinished_on(node.number())));
  });
}

// By somebody else: tmpirun stops itself with them (SIGTSTP).
void Launcher::say_who_is_stopped() {
  for (const auto& node : job_.nodes) {
    if (!has_passed(node->stop_deadline(), Clock::now())) continue;
    node->stop_said = true;
    if (job_.settings.job.quiet) continue;
    job_.output.message(
        fmt::format("tmpirun: warning: {} (pid {}), with {}, has been stopped for {} seconds (SIGSTOP or the "
                    "like), and the "
                    "job waits for it; kill -CONT {} lets it go on\n",
                    job_.nodes.name_of(*node), node->process().pid(),
                    job_.ranks.unfinished_on(node->number()), kStopPatience.count(), node->process().pid()));
  }
}

// Without the starter there is nobody to read the output, or to end the job later.
void Launcher::on_starter_gone() {
  job_.plan.starter.reset();
  if (job_.end.because(JobEnd::Cause::kSignal, 1, "the launcher that has started the job is gone"))
    job_.end.tell_nodes();
}

void Launcher::look_at_ended_nodes() {
  for (const auto& node : job_.nodes) {
    if (!node->end_handled && node->silent()) on_ended(*node);
  }
}

// A node process has ended, and what it had to say has been heard.
void Launcher::on_ended(Node& node) {
  node.end_handled = true;
  job_.state_dumps.node_ended(node);
  if (node.done || job_.end.begun()) return;
  const std::string why =
      explain_death(node, {job_.nodes.name_of(node), job_.ranks.unfinished_on(node.number()),
                           job_.settings.launch_agent, job_.plan.executable});
  if (is_lost(node))
    job_.end.because_of(JobEnd::Cause::kNodeDied, node, code_of_death(node), why);
  else
    job_.end.because(JobEnd::Cause::kNodeDied, code_of_death(node), why);
  end_nodes();
}

void Launcher::drain_after_death() {
  // First the descendants: a forked child of a rank holds the channels open as well.
  descendants_.end_all();
  // The starter ends when its tasks do, they wait for the end of their channels (control_channel.hpp), and all that
  // came there has been read.
  if (job_.stdio.starter_output() >= 0) {
    for (const auto& node : job_.nodes) node->process().end_channel();
  }
  job_.end.kill_after(kDrain);
  const auto open = [&] { return job_.nodes.any([](const Node& node) { return node.anything_open(); }); };
  const auto unread = [&] { return job_.nodes.any([](const Node& node) { return node.unread(); }); };
  const auto wanted = [&] {
    const JobEnd::Cause cause = job_.end.cause();
    return cause != JobEnd::Cause::kOutputGone && cause != JobEnd::Cause::kOutputFailed &&
           signals_.interrupts() < 2;
  };
  const auto reading = [&] { return open() || job_.stdio.starter_output() >= 0; };
  while (reading() && wanted() && (job_.end.kill_at() || job_.output.congested() || unread())) poll_once();
}

// Ended in the middle, and not by a word of their own.
bool Launcher::nodes_were_lost() const {
  using Cause = JobEnd::Cause;
  const Cause cause = job_.end.cause();
  return cause == Cause::kNodeDied || cause == Cause::kConnectionLost || cause == Cause::kSignal ||
         cause == Cause::kTimeout;
}

// A node process was lost, and its ranks need not be.
bool Launcher::survives() const {
  return job_.settings.job.survive >= 0 && job_.end.lost() >= 0 && job_.checkpoints.any() &&
         signals_.ended_by() == 0 && attempts_in_vain() < kMostInVain;
}

// What has never begun has not gone on in vain: hosts that are not there are left out one by one.
bool Launcher::had_ranks() const {
  return job_.nodes.any([](const Node& node) { return node.has_job(); });
}

// Where the ranks go on, node processes are killed: what is told of the end forgets what lies in memory.
void Launcher::end_nodes() {
  survives() ? job_.end.kill_nodes() : job_.end.tell_nodes();
}

Resumption Launcher::after_loss() const {
  const Node& lost = job_.nodes[job_.end.lost()];
  return {.hosts = {},
          .lost_host = lost.remote() ? lost.host() : "",
          .checkpoint = job_.checkpoints.last(),
          .first = job_.checkpoints.first(),
          .written = job_.checkpoints.written()};
}

std::string Launcher::how_it_goes_on() const {
  if (job_.settings.job.survive < 0 || signals_.ended_by() != 0) return "";
  if (!job_.checkpoints.any()) return "; there is no checkpoint yet that the ranks could go on from";
  if (!survives())
    return fmt::format(
        "; that was the {}. time since the same checkpoint, and the ranks do not go on once more",
        attempts_in_vain());
  const std::chrono::duration<double> ago = Clock::now() - job_.checkpoints.when();
  if (!job_.checkpoints.written() && !job_.settings.job.revived())
    return "; the ranks go on from the checkpoint that was being written, if it is complete";
  return fmt::format("; the ranks go on from where they were {:.1f} seconds ago", ago.count());
}

int Launcher::finish() {
  look_at_ended_nodes();
  for (const auto& node : job_.nodes) {  // channels that are held open by others
    if (!node->end_handled) on_ended(*node);
  }
  if (JobLinks* links = job_.ports.links())
    links->leave(!job_.end.begun() ? "" : job_.end.message().empty() ? "it was ended" : job_.end.message());
  job_.output.finish();
  ReportNodes reported{{}, nodes_were_lost()};
  for (const auto& node : job_.nodes) reported.names.push_back(job_.nodes.name_of(*node));
  for (const std::string& notice : job_.trace.finish(reported))  // a window of it is on the profile's page
    job_.output.message(fmt::format("tmpirun: {}\n", notice));
  for (const std::string& notice : job_.profile.finish(reported))
    job_.output.message(fmt::format("tmpirun: {}\n", notice));
  job_.report_failed |= job_.profile.failed() || job_.trace.failed();
  const RankExits::Failed& failed = job_.ranks.failed();
  int code = failed.code;
  std::string message;
  if (job_.end.begun()) {
    code = job_.end.code();
    message = job_.end.message();
    const bool never_ran = job_.end.cause() == JobEnd::Cause::kStartFailed && !job_.checkpoints.any();
    if (job_.end.lost() >= 0 && !never_ran) message += how_it_goes_on();
    if (survives()) job_.resumption = after_loss();
    if (job_.resumption && signals_.ended_by() != 0) {  // they would have gone on
      job_.resumption.reset();
      code = 128 + signals_.ended_by();
      message = fmt::format("the job was ended by SIG{}", sigabbrev_np(signals_.ended_by()));
    }
    if (job_.resumption) job_.checkpoints.give_up("the ranks are about to go on elsewhere: ask again");
  } else if (failed.ranks > 0) {
    message = fmt::format("rank {} on host {} ended with exit code {}", failed.first,
                          job_.nodes.of_rank(failed.first).host(), failed.code);
    if (failed.ranks > 1) message += fmt::format(", the first of {} ranks with a non-zero one", failed.ranks);
  }
  const bool silent = job_.resumption && job_.settings.job.quiet;
  if (!message.empty() && !silent)
    job_.output.message(fmt::format("tmpirun: {}{}", message, message.ends_with('\n') ? "" : "\n"));
  job_.stdio.wait_for_reader(signals_.descriptor(), signals_.interrupts());
  if (!job_.end.begun() && job_.output.sink(1).error() == EPIPE) code = 128 + SIGPIPE;
  if (job_.report_failed && code == 0) code = 1;
  return code & 0xff;
}

}  // namespace tmpi::launch
