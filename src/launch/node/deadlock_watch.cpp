#include "launch/node/deadlock_watch.hpp"

#include <fmt/core.h>

#include <mutex>
#include <optional>

#include "launch/control/control.hpp"
#include "launch/node/node_job.hpp"
#include "launch/node/wait_for_edges.hpp"
#include "launch/system/program_path.hpp"
#include "mpi/diagnose/deadlock.hpp"
#include "mpi/remote/remote.hpp"

namespace tmpi::launch {
namespace {

std::string wording(StateDump dump, const std::vector<mpi::WaitForEdges>& edges) {
  return fmt::format(
      "deadlock: every rank that has not finished is blocked in MPI, and no message is on its way\n{}{}"
      "the job has been ended (--no-deadlock-check leaves it blocked, for a debugger)",
      describe(in_order(std::move(dump))), mpi::explain_deadlock(edges, mpi::job()->size()));
}

// On a worker's thread, while all workers sleep (sched::StallHook).
void on_stall_alone() noexcept {
  const NodeJob* job = NodeJob::running();
  if (job == nullptr || !mpi::stalled()) return;
  Control::instance()->end_job(EndKind::kDeadlock, -1, kExitDeadlock,
                               wording(job->state_dump(true), {mpi::wait_for_edges()}));
}

// The quiescence that tmpirun was told of, and whether it still lasts.
class Quiescence {
 public:
  void begin() {
    const State now{sched::scheduler()->switches(), balance()};
    {
      const std::lock_guard lock(mutex_);
      since_ = now;
    }
    std::string payload;
    append_record(payload, now.balance);
    Control::instance()->send(FrameType::kQuiescent, -1, 0, payload);
  }
  // Nobody has run and nothing has come since.
  bool lasts() {
    const std::lock_guard lock(mutex_);
    const BalanceRecord now = balance();
    return since_ && sched::scheduler()->switches() == since_->switches && now.sent == since_->balance.sent &&
           now.received == since_->balance.received;
  }
  static BalanceRecord balance() {
    const mpi::remote::Balance now = mpi::remote::balance();
    return {now.sent, now.received};
  }

 private:
  struct State {
    std::uint64_t switches;
    BalanceRecord balance;
  };
  std::mutex mutex_;
  std::optional<State> since_;
};

Quiescence& quiescence() {
  static Quiescence the_quiescence;
  return the_quiescence;
}

void on_stall_of_several() noexcept {
  if (NodeJob::running() != nullptr && mpi::stalled()) quiescence().begin();
}

void explain(std::string_view payload) {
  Unpacker unpacker(payload);
  StateDump dump;
  std::vector<mpi::WaitForEdges> edges;
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    Result<NodeWaitForEdges> one = unpack_wait_for_edges(unpacker.text());
    if (!one) continue;
    dump.insert(dump.end(), one->dump.begin(), one->dump.end());
    edges.push_back(std::move(one->edges));
  }
  Control::instance()->report_end(EndKind::kDeadlock, -1, kExitDeadlock, wording(std::move(dump), edges));
}

// On the control thread.
void on_question(const Frame& question, std::string& out) {
  if (question.header.type == FrameType::kExplain) return explain(question.payload);
  const bool lasts = quiescence().lasts();
  if (question.header.type == FrameType::kStillQuiescent) {
    std::string payload;
    append_record(payload, Quiescence::balance());
    append_frame(out, FrameType::kQuiescenceAnswer, -1, lasts ? 1 : 0, payload);
  } else if (lasts) {
    append_frame(out, FrameType::kWaitForEdges, -1, 0,
                 pack(NodeWaitForEdges{NodeJob::running()->state_dump(true), mpi::wait_for_edges()}));
  }
}

}  // namespace

void watch_for_deadlock(sched::Scheduler& scheduler, bool several_nodes) {
  scheduler.set_stall_hook(several_nodes ? &on_stall_of_several : &on_stall_alone);
  if (several_nodes) Control::instance()->set_quiescence_handler(&on_question);
}

std::string final_balance() {
  std::string payload;
  append_record(payload, Quiescence::balance());
  return payload;
}

}  // namespace tmpi::launch
