#include "launch/launcher/frame_handler.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "launch/report/demangle.hpp"

namespace tmpi::launch {

void FrameHandler::on_readable(Node& node) {
  for (int round = 0; round < 4; ++round) {
    if (!node.fill() || node.too_noisy()) {
      if (node.too_noisy()) return on_noise(node);
      if (!node.control_open() && node.running() && !job_.end.kill_at())
        job_.end.kill_after(kGrace);  // it should be ending; see to it
      return;
    }
    Frame frame{};
    FrameReader::Status status;
    while ((status = node.next(frame)) == FrameReader::Status::kFrame) on_frame(node, frame);
    if (status == FrameReader::Status::kGarbage) {
      job_.end.because(JobEnd::Cause::kProtocol, 1,
                       fmt::format("{} sent bytes that are not tmpi's protocol", job_.nodes.name_of(node)));
      job_.end.kill_nodes();
      return node.close_control();
    }
    if (job_.output.congested()) job_.output.flush();
    if (job_.output.congested()) return;
  }
}

void FrameHandler::on_noise(Node& node) {
  if (job_.end.because(
          JobEnd::Cause::kStartFailed, 1,
          fmt::format(
              "cannot start a node process on host {}: {} has printed {} KiB and not started it; what it "
              "prints first: {}",
              node.host(), job_.settings.launch_agent, kMostNoise >> 10,
              node.diagnostics.substr(0, std::min<std::size_t>(node.diagnostics.find('\n'), 80)))))
    job_.end.tell_nodes();
  node.kill();
}

void FrameHandler::on_frame(Node& node, const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::kHello:
      return job_.start.on_hello(node, frame);
    case FrameType::kNotice:
      return on_notice(frame);
    case FrameType::kOutput:
      return job_.stdio.write(frame.header.rank < 0 ? -1 - node.number() : frame.header.rank,
                              frame.header.detail == 1 ? 1 : 2, frame.payload);
    case FrameType::kExits:
      return on_exits(node, frame);
    case FrameType::kStdinWanted:
      return job_.stdio.want_input(frame.header.rank);
    case FrameType::kStateDump:
      return job_.state_dumps.answered(node, frame.payload, frame.header.detail != 0);
    case FrameType::kStacks:
      return job_.state_dumps.add_stacks(node, frame.payload);
    case FrameType::kFigures:
      return job_.state_dumps.add_figures(node, frame.payload);
    case FrameType::kEnd:
      return on_end(node, frame);
    case FrameType::kDone:
      node.done = true;
      job_.worlds.on_done(node);
      return job_.deadlock.on_done(node, frame);
    case FrameType::kSpawn:
      if (job_.worlds.on_spawn(node, frame)) return;
      return on_nonsense(node, frame);
    case FrameType::kWorldReady:
      if (job_.worlds.on_ready(node, frame)) return;
      return on_nonsense(node, frame);
    case FrameType::kPortCall:
      if (job_.ports.on_call(node, frame)) return;
      return on_nonsense(node, frame);
    case FrameType::kWayPrepared:
    case FrameType::kWayJoined:
    case FrameType::kWayLost:
      if (job_.ports.links() != nullptr && job_.ports.links()->on_frame(node, frame)) return;
      return on_nonsense(node, frame);
    case FrameType::kAddress:
      return job_.start.on_address(node, frame);
    case FrameType::kLost:
      return job_.lost.reported(node, frame.header.rank, frame.payload);
    case FrameType::kUsesMpi:
      job_.ranks.uses_mpi(node.number());
      return check_leaving();
    case FrameType::kQuiescent:
      return job_.deadlock.on_quiescent(node, frame);
    case FrameType::kQuiescenceAnswer:
      return job_.deadlock.on_answer(node, frame);
    case FrameType::kCheckpoint:
      return job_.checkpoints.on_frame(frame.payload, frame.header.detail);
    case FrameType::kProfile:
      return job_.profile.add(node.number(), frame.payload);
    case FrameType::kTrace:
      return job_.trace.add(node.number(), frame.payload);
    case FrameType::kWaitForEdges:
      return job_.deadlock.on_wait_for_edges(node, frame);
    default:
      return on_nonsense(node, frame);
  }
}

void FrameHandler::on_nonsense(const Node& node, const Frame& frame) {
  job_.end.because(
      JobEnd::Cause::kProtocol, 1,
      fmt::format("{} sent an unknown message (type {}); do tmpirun and tmpi-node belong to the same "
                  "installation?",
                  job_.nodes.name_of(node), static_cast<int>(frame.header.type)));
  job_.end.kill_nodes();
}

void FrameHandler::on_notice(const Frame& frame) {
  for (const NoticeKind once : {NoticeKind::kHeldCores, NoticeKind::kPollingInVain, NoticeKind::kRunsOn}) {
    if (frame.header.detail == static_cast<std::uint16_t>(once) && !said_.insert(once).second) return;
  }
  job_.output.message(fmt::format("tmpirun: {}\n", frame.payload));
}

void FrameHandler::on_exits(const Node& node, const Frame& frame) {
  const int ranks = static_cast<int>(job_.plan.node_of.size());
  std::string_view payload = frame.payload;
  for (ExitRecord record{}; read_record(payload, record);) {
    if (record.rank < 0 || record.rank >= ranks || job_.nodes.node_of(record.rank) != node.number()) continue;
    job_.ranks.ended(record.rank, record.code, record.used_mpi != 0);
    job_.output.rank_ended(record.rank);
    if (record.used_mpi == 0) check_leaving();
  }
}

void FrameHandler::check_leaving() {
  const auto left = job_.ranks.broken_rule();
  if (!left) return;
  if (job_.end.because(JobEnd::Cause::kRule, left->code == 0 ? 1 : left->code,
                       fmt::format("rank {} on host {} ended with exit code {} without having called "
                                   "MPI_Init, but other ranks of the job use MPI",
                                   left->rank, job_.nodes.of_rank(left->rank).host(), left->code))) {
    job_.end.tell_nodes();
  }
}

void FrameHandler::on_end(const Node& node, const Frame& frame) {
  std::string_view payload = frame.payload;
  EndRecord record{};
  if (!read_record(payload, record)) return;
  const auto kind = static_cast<EndKind>(frame.header.detail);
  if (kind == EndKind::kSignalled || kind == EndKind::kOrdered) return;  // our own doing; already worded
  job_.end.because(JobEnd::Cause::kNodeReported, record.code == 0 ? 1 : record.code, demangle_words(payload));
  job_.end.tell_nodes(&node);
  // The node process ends by itself now; a rank's stuck child process must not keep it, nor may a heap that a
  // crash has left locked.
  if (kind == EndKind::kCrashed) {
    job_.end.kill_after(kGrace);
  } else {
    job_.end.kill_after_reports(kGrace);
  }
}

}  // namespace tmpi::launch
