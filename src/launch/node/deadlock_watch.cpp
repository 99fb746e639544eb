#include "launch/node/deadlock_watch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "launch/control/control.hpp"
#include "launch/node/node_job.hpp"
#include "launch/node/rank_stacks.hpp"
#include "launch/node/shared_mappings.hpp"
#include "launch/node/wait_for_edges.hpp"
#include "launch/system/program_path.hpp"
#include "mpi/diagnose/deadlock.hpp"
#include "mpi/diagnose/polling.hpp"
#include "mpi/remote/remote.hpp"

namespace tmpi::launch {
namespace {

// Seconds of nothing but polls that are worth a warning; so many times that are a deadlock.
int polling_limit = 10;
constexpr int kLimitsToTheEnd = 6;

bool quiet = false;  // no warning is wanted
bool said = false;   // it has been said, of a job of one node process

int fuse() {
  return kLimitsToTheEnd * polling_limit;
}

bool somebody_polls(const StateDump& dump) {
  return std::ranges::any_of(
      dump, [](const StateDumpEntry& entry) { return entry.place.state == RankState::kPolling; });
}

std::string in_vain(int seconds) {
  return fmt::format(
      "for {} second{} every rank that has not finished has tested or probed in vain and done nothing else, "
      "or has been blocked in MPI,",
      seconds, seconds == 1 ? "" : "s");
}

constexpr int kMostStackLines = 40;

std::string stack_lines(const Stacks& stacks) {
  return any_known(stacks) ? "  how they have got there:\n" + describe_tree(stacks, kMostStackLines) : "";
}

std::string wording(StateDump dump, const std::vector<mpi::WaitForEdges>& edges, const Stacks& stacks) {
  const bool polling = somebody_polls(dump);
  return fmt::format(
      "deadlock: {} and no message is on its way\n{}{}{}"
      "the job has been ended (--no-deadlock-check leaves it {}, for a debugger)",
      polling ? in_vain(fuse()) : "every rank that has not finished is blocked in MPI,",
      describe(in_order(std::move(dump))), mpi::explain_deadlock(edges, mpi::job()->end()),
      stack_lines(stacks), polling ? "alone" : "blocked");
}

// What a loop around a test does next only the program knows: it may count them. So it is given time.
std::string warning(StateDump dump, const std::vector<mpi::WaitForEdges>& edges) {
  return fmt::format(
      "warning: this looks like a deadlock: {} and no message is on its way\n{}{}"
      "the job will be ended if nothing else happens for {} seconds (--no-deadlock-check lets it go on)",
      in_vain(polling_limit), describe(in_order(std::move(dump))),
      mpi::explain_deadlock(edges, mpi::job()->end()), fuse() - polling_limit);
}

// Of a job of one node process.
std::string wording(const NodeJob& job) {
  StateDump dump = job.state_dump(true);
  const Stacks stacks = rank_stacks(dump);
  return wording(std::move(dump), {mpi::wait_for_edges()}, stacks);
}

// On a worker's thread, while all workers sleep (sched::StallHook).
void on_stall_alone() noexcept {
  const NodeJob* job = NodeJob::running();
  if (job == nullptr || !mpi::stalled()) return;
  Control::instance()->end_job(EndKind::kDeadlock, -1, kExitDeadlock, wording(*job));
}

// The quiescence that tmpirun was told of, and whether it still lasts.
class Quiescence {
 public:
  /// `ends`: what ends() was before it was found that all ranks are blocked; if something has come from tmpirun since then,
  /// they will not be.
  void begin(std::uint64_t ends) {
    const State now{sched::scheduler()->activity(), balance()};
    {
      const std::lock_guard lock(mutex_);
      if (ends_ != ends) return;
      since_ = now;
    }
    std::string payload;
    append_record(payload, now.balance);
    Control::instance()->send(FrameType::kQuiescent, -1, 0, payload);
  }
  /// Ranks come that have not run yet, or what a rank waits for comes from tmpirun.
  void end() {
    const std::lock_guard lock(mutex_);
    ++ends_;
    since_.reset();
  }
  std::uint64_t ends() {
    const std::lock_guard lock(mutex_);
    return ends_;
  }
  // Nobody has run and nothing has come since.
  bool lasts() {
    const std::lock_guard lock(mutex_);
    const BalanceRecord now = balance();
    return since_ && sched::scheduler()->activity() == since_->activity && now.sent == since_->balance.sent &&
           now.received == since_->balance.received;
  }
  static BalanceRecord balance() {
    const mpi::remote::Balance now = mpi::remote::balance();
    return {now.sent, now.received};
  }

 private:
  struct State {
    std::uint64_t activity;
    BalanceRecord balance;
  };
  std::mutex mutex_;
  std::optional<State> since_;
  std::uint64_t ends_ = 0;
};

Quiescence& quiescence() {
  static Quiescence the_quiescence;
  return the_quiescence;
}

void on_stall_of_several() noexcept {
  const std::uint64_t ends = quiescence().ends();
  if (NodeJob::running() != nullptr && mpi::stalled()) quiescence().begin(ends);
}

// On a worker's thread, while others may poll (sched::PollHook).
bool on_polls(int seconds) noexcept {
  const NodeJob* job = NodeJob::running();
  const std::uint64_t ends = quiescence().ends();
  if (job == nullptr || !mpi::only_polling(seconds == 0)) return false;
  if (seconds == 0 || seconds % polling_limit != 0) return true;
  if (shares_memory()) return false;
  if (job->several()) {
    quiescence().begin(ends);  // the others may come to this later: explain()
  } else if (seconds >= fuse()) {
    Control::instance()->end_job(EndKind::kDeadlock, -1, kExitDeadlock, wording(*job));
  } else if (!quiet && !std::exchange(said, true)) {
    Control::instance()->notice(NoticeKind::kPollingInVain,
                                warning(job->state_dump(true), {mpi::wait_for_edges()}));
  }
  return true;
}

// How long all node processes have been found to poll, in which this one has been asked again and again.
bool fuse_burnt() {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point first, last;
  const Clock::time_point now = Clock::now();
  if (now - last > std::chrono::seconds(2 * polling_limit)) first = now;
  last = now;
  return now - first >= std::chrono::seconds(fuse() - polling_limit);
}

void explain(std::string_view payload, std::string& out) {
  Unpacker unpacker(payload);
  StateDump dump;
  Stacks stacks;
  std::vector<mpi::WaitForEdges> edges;
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    Result<NodeWaitForEdges> one = unpack_wait_for_edges(unpacker.text());
    if (!one) continue;
    dump.insert(dump.end(), one->dump.begin(), one->dump.end());
    std::ranges::move(one->stacks, std::back_inserter(stacks));
    edges.push_back(std::move(one->edges));
  }
  if (somebody_polls(dump) && !fuse_burnt()) {
    if (quiet) return;
    append_frame(out, FrameType::kNotice, -1, static_cast<std::uint16_t>(NoticeKind::kPollingInVain),
                 warning(std::move(dump), edges));
  } else {
    Control::instance()->report_end(EndKind::kDeadlock, -1, kExitDeadlock,
                                    wording(std::move(dump), edges, stacks));
  }
}

// On the control thread.
void on_question(const Frame& question, std::string& out) {
  if (question.header.type == FrameType::kExplain) return explain(question.payload, out);
  const bool lasts = quiescence().lasts();
  if (question.header.type == FrameType::kStillQuiescent) {
    std::string payload;
    append_record(payload, Quiescence::balance());
    append_frame(out, FrameType::kQuiescenceAnswer, -1, lasts ? 1 : 0, payload);
  } else if (lasts) {
    StateDump dump = NodeJob::running()->state_dump(true);
    Stacks stacks = rank_stacks(dump);
    append_frame(out, FrameType::kWaitForEdges, -1, 0,
                 pack(NodeWaitForEdges{std::move(dump), std::move(stacks), mpi::wait_for_edges()}));
  }
}

}  // namespace

void watch_for_deadlock(sched::Scheduler& scheduler, bool several_nodes, int limit, bool no_warnings) {
  polling_limit = limit;
  quiet = no_warnings;
  scheduler.set_stall_hook(several_nodes ? &on_stall_of_several : &on_stall_alone);
  scheduler.set_poll_hook(&on_polls);
  if (several_nodes) Control::instance()->set_quiescence_handler(&on_question);
}

void end_quiescence() {
  quiescence().end();
}

std::string final_balance() {
  std::string payload;
  append_record(payload, Quiescence::balance());
  return payload;
}

}  // namespace tmpi::launch
