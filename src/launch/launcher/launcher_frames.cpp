// What node processes say.
#include <fmt/core.h>

#include <algorithm>

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/launcher.hpp"
#include "launch/report/demangle.hpp"
#include "launch/system/version.hpp"

namespace tmpi::launch {

void Launcher::on_control(Node& node) {
  // Bounded per round, so that signals and outputs get their turn.
  for (int round = 0; round < 4; ++round) {
    if (!node.fill()) {
      if (!node.control_open() && node.running() && !kill_at_) {
        kill_at_ = Clock::now() + kGrace;  // it should be ending; see to it
      }
      return;
    }
    Frame frame{};
    FrameReader::Status status;
    while ((status = node.next(frame)) == FrameReader::Status::kFrame) on_frame(node, frame);
    if (status == FrameReader::Status::kGarbage) {
      end_job(Cause::kProtocol, 1, fmt::format("{} sent bytes that are not tmpi's protocol", name_of(node)));
      kill_nodes();
      return node.close_control();
    }
    if (output_.congested()) output_.flush();
    if (output_.congested()) return;
  }
}

void Launcher::on_frame(Node& node, const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::kHello:
      return on_hello(node, frame);
    case FrameType::kNotice:
      return output_.message(fmt::format("tmpirun: {}\n", frame.payload));
    case FrameType::kOutput:
      return write_output(frame.header.rank < 0 ? -1 - node.number() : frame.header.rank,
                          frame.header.detail == 1 ? 1 : 2, frame.payload);
    case FrameType::kExits:
      return on_exits(node, frame);
    case FrameType::kStdinWanted:
      stdin_wanted_ = true;
      return output_.rank_waits_for_input(frame.header.rank);
    case FrameType::kPicture:
      return on_picture(node, frame);
    case FrameType::kEnd:
      return on_end(node, frame);
    case FrameType::kDone:
      return on_done(node, frame);
    case FrameType::kAddress:
      return on_address(node, frame);
    case FrameType::kLost:
      return on_lost(node, frame);
    case FrameType::kUsesMpi:
      return on_uses_mpi(node);
    case FrameType::kAtRest:
      return on_at_rest(node, frame);
    case FrameType::kResting:
      return on_resting(node, frame);
    case FrameType::kProfile:
      return profile_.add(node.number(), frame.payload);
    case FrameType::kStanding:
      return on_standing(node, frame);
    default:
      end_job(Cause::kProtocol, 1,
              fmt::format("{} sent an unknown message (type {}); do tmpirun and tmpi-node belong to the same "
                          "installation?",
                          name_of(node), static_cast<int>(frame.header.type)));
      kill_nodes();
  }
}

void Launcher::on_hello(Node& node, const Frame& frame) {
  Greeting greeting = unpack_greeting(frame.payload);
  std::string difference;
  if (greeting.wire_version != kWireVersion) {
    difference = fmt::format("speaks version {} of the control protocol, tmpirun speaks {}",
                             greeting.wire_version, kWireVersion);
  } else if (!greeting.version.empty() && greeting.version != kVersion) {
    difference = fmt::format("is of tmpi {}, tmpirun of tmpi {}", greeting.version, kVersion);
  }
  node.greeting = std::move(greeting);
  if (!difference.empty()) {
    end_job(Cause::kProtocol, 1,
            fmt::format("tmpi-node on host {} {}; install the same tmpi for both", node.host(), difference));
    return kill_nodes();
  }
  const auto greeted = [](const auto& other) { return other->greeting.has_value(); };
  if (!jobs_sent_ && std::ranges::all_of(nodes_, greeted)) send_jobs();
}

void Launcher::on_address(Node& node, const Frame& frame) {
  if (node.address) return;
  node.address = std::string(frame.payload);
  if (++addresses_ < plan_.size()) return;
  Packer packer;
  packer.number(plan_.size());
  for (const auto& other : nodes_) {
    packer.text(*other->address);
    packer.text(other->host());
  }
  for (const auto& other : nodes_) other->send(FrameType::kAddresses, 0, packer.bytes());
}

void Launcher::on_exits(Node& node, const Frame& frame) {
  std::string_view payload = frame.payload;
  for (ExitRecord record{}; read_record(payload, record);) {
    if (record.rank < 0 || record.rank >= ranks_ || node_of(record.rank) != node.number()) continue;
    ended_[static_cast<std::size_t>(record.rank)] = true;
    output_.rank_ended(record.rank);
    if (record.used_mpi == 0 && left_before_init_ < 0) {
      left_before_init_ = record.rank;
      code_before_init_ = record.code;
      check_leaving();
    }
    if (record.code == 0) continue;
    if (failed_ranks_++ == 0) {
      first_failed_ = record.rank;
      exit_code_ = record.code;
    }
  }
}

void Launcher::on_uses_mpi(Node& node) {
  node.uses_mpi = true;
  check_leaving();
}

// Each node process sees to its own ranks (node_job.hpp, the rules of leaving); here are those of different
// ones.
void Launcher::check_leaving() {
  if (left_before_init_ < 0) return;
  const int home = node_of(left_before_init_);
  const auto elsewhere = [&](const auto& node) { return node->uses_mpi && node->number() != home; };
  if (std::ranges::none_of(nodes_, elsewhere)) return;
  if (end_job(Cause::kRule, code_before_init_ == 0 ? 1 : code_before_init_,
              fmt::format("rank {} on host {} ended with exit code {} without having called MPI_Init, but "
                          "other ranks of the job use MPI",
                          left_before_init_, nodes_[static_cast<std::size_t>(home)]->host(),
                          code_before_init_))) {
    end_nodes(nullptr);
  }
}

void Launcher::on_lost(const Node& node, const Frame& frame) {
  const int number = frame.header.rank;
  // It has lost somebody as well: so it lives, and nothing better is to be heard of it.
  if (loss_ && loss_->node == node.number()) loss_->deadline = Clock::now();
  if (loss_ || cause_ != Cause::kNone || number < 0 || number >= plan_.size()) return;
  const Node& lost = *nodes_[static_cast<std::size_t>(number)];
  if (lost.done) return;
  loss_ = {number,
           fmt::format("{} has lost the connection to {}, with {}: {}", name_of(node), name_of(lost),
                       unfinished_ranks(lost), frame.payload),
           Clock::now() + (lost.process().adopted() ? kEndOfChannel : kBetterCause)};
}

void Launcher::on_end(Node& node, const Frame& frame) {
  std::string_view payload = frame.payload;
  EndRecord record{};
  if (!read_record(payload, record)) return;
  const auto kind = static_cast<EndKind>(frame.header.detail);
  if (kind == EndKind::kSignalled || kind == EndKind::kOrdered) return;  // our own doing; already worded
  end_job(Cause::kNodeReported, record.code == 0 ? 1 : record.code, demangle_words(payload));
  end_nodes(&node);
  // The node process ends by itself now; a rank's stuck child process must not keep it, nor may a heap that a
  // crash has left locked.
  kill_at_ =
      Clock::now() + kGrace + (kind == EndKind::kCrashed ? std::chrono::seconds{0} : time_for_reports());
}

void Launcher::on_picture(const Node& node, const Frame& frame) {
  if (!picture_.answered(node.number(), unpack_picture(frame.payload)) || !picture_.complete()) return;
  show_picture();
}

}  // namespace tmpi::launch
