#include "launch/node/node_network.hpp"

#include "launch/control/control.hpp"
#include "launch/node/connected_jobs.hpp"
#include "launch/system/no_memory.hpp"
#include "launch/system/safe_text.hpp"
#include "mpi/remote/remote.hpp"
#include "sched/progress.hpp"

namespace tmpi::launch {
namespace {

constexpr double kCloseTime = 5;  // seconds

mpi::remote::Settings settings_of(const JobSpec& job) {
  mpi::remote::Settings settings;
  settings.eager_limit = job.eager_limit;
  settings.release_seconds = static_cast<double>(job.eager_release) / 1000;
  const auto* chosen = find_choice(mpi::remote::kRendezvousProtocols, job.rendezvous);
  const auto* progress = find_choice(sched::kProgressModes, job.progress);
  settings.beside = progress != nullptr && sched::is_beside(progress->value);
  if (chosen != nullptr) settings.rendezvous = chosen->value;  // tmpirun has checked the name
  return settings;
}

// The launcher knows best whether that is the cause or only a consequence, and ends the job.
void report_loss(int node, const std::string& why) noexcept {
  if (node >= mpi::placement().nodes()) return report_lost_job(node, why);
  try {
    Control::instance()->send(FrameType::kLost, node, 0, why);
  } catch (const std::exception&) {
    char what[256];
    SafeText text(what, sizeof what - 1);
    text << "word of the loss of node " << static_cast<long>(node) << " (" << why.c_str() << ")";
    what[text.length()] = '\0';
    no_memory_for(what);
  }
}

}  // namespace

Result<void> open_network(const JobSpec& job, const NodeSpec& node, int workers) {
  if (node.secret.empty()) {
    return Failure{
        "tmpirun has not handed over a key for the connections between node processes; do tmpirun and "
        "tmpi-node "
        "belong to the same installation?"};
  }
  net::Options options;
  options.spec = job.net;
  options.node = node.node;
  options.nodes = node.nodes();
  options.job = node.job;
  options.secret = node.secret;
  options.same_machine = node.same_machine;
  options.ancestor = node.launcher;
  if (Result<void> begun = mpi::remote::begin(options, settings_of(job)); !begun) return begun;
  mpi::remote::on_lost(&report_loss);
  Control::instance()->publish_address(mpi::remote::address(), workers);
  return {};
}

Result<void> open_to_other_jobs(const JobSpec& job) {
  if (mpi::remote::active()) return mpi::remote::take_other_jobs();
  if (Result<void> begun = mpi::remote::begin_for_other_jobs(settings_of(job)); !begun) return begun;
  mpi::remote::on_lost(&report_loss);
  return {};
}

Result<int> join_network(const NodeSpec& node, sched::Scheduler& scheduler) {
  scheduler.set_event_source({&mpi::remote::poll, &mpi::remote::arm, &mpi::remote::expected()});
  if (scheduler.progress_spins()) mpi::remote::progress_spins();
  if (node.nodes() == 1) return 0;
  Control::Addresses all = Control::instance()->await_addresses();
  if (Result<void> connected = mpi::remote::connect(std::move(all.peers)); !connected)
    return connected.failure();
  return all.workers;
}

std::string describe_network() {
  return mpi::remote::describe();
}

void leave_network() {
  mpi::remote::end(kCloseTime);
}

}  // namespace tmpi::launch
