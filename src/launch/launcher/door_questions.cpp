#include "launch/launcher/door_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "launch/launcher/job.hpp"

namespace tmpi::launch {
namespace {

void request(Job& job, int caller, Checkpoints::Answer then) {
  const Result<void> asked =
      job.checkpoints.request([&job, caller, then = std::move(then)](const Result<void>& written) {
        written ? then(written) : job.door.refuse(caller, written.message());
      });
  if (!asked) job.door.refuse(caller, asked.message());
}

/// Has the ranks written down, and tells the caller.
void save(Job& job, int caller) {
  request(job, caller, [&job, caller, begun = Clock::now()](const Result<void>&) {
    const std::chrono::duration<double> took = Clock::now() - begun;
    const std::string& where = job.checkpoints.last()->directory;
    job.door.answer(caller, fmt::format("written to {} in {:.1f} s\n",
                                        where.empty() ? "the memory of the hosts" : where, took.count()));
  });
}

/// The same, and lets the ranks go on on these hosts.
void save_and_go_on(Job& job, int caller, Result<std::vector<HostSlots>> hosts) {
  if (!hosts) return job.door.refuse(caller, hosts.message());
  if (job.nodes[0].process().adopted())
    return job.door.refuse(caller, "others have started the job's node processes, which tmpirun cannot do");
  request(job, caller, [&job, caller, hosts = *std::move(hosts)](const Result<void>&) {
    if (!job.end.because(JobEnd::Cause::kResumed, 0, ""))
      return job.door.refuse(caller, "the job is about to end, or to go on elsewhere: ask again");
    job.resumption = Resumption{.hosts = hosts,
                                .lost_host = {},
                                .checkpoint = job.checkpoints.last(),
                                .first = job.checkpoints.first(),
                                .written = true};
    job.door.answer(
        caller, fmt::format("the ranks go on on {} host{}\n", hosts.size(), hosts.size() == 1 ? "" : "s"));
    job.end.kill_nodes();
  });
}

}  // namespace

void answer_question(Job& job, FrameType question, std::string_view about, int caller) {
  const auto answer = [&job, caller](const std::string& text) { job.door.answer(caller, text); };
  switch (question) {
    case FrameType::kDoorStacks:
      return job.state_dumps.request_stacks(answer);
    case FrameType::kDoorFigures:
      return job.state_dumps.request_figures(job.settings.job.apps.front().program, answer);
    case FrameType::kDoorCheckpoint:
      return save(job, caller);
    case FrameType::kDoorAddHosts:
      return save_and_go_on(job, caller, hosts_with(job.settings, about));
    case FrameType::kDoorRemoveHosts:
      return save_and_go_on(job, caller, hosts_but(job.settings, job.plan, about));
    default:
      return;  // of a newer tmpi
  }
}

}  // namespace tmpi::launch
