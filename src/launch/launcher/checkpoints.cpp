#include "launch/launcher/checkpoints.hpp"

namespace tmpi::launch {

void Checkpoints::answer(std::vector<Answer>& all, const Result<void>& result) {
  for (const Answer& answer : std::exchange(all, {})) answer(result);
}

Result<void> Checkpoints::request(Answer answer) {
  if (!settings_.job.checkpoints) return Failure{"the job was not started with --checkpoint or --survive"};
  Node& first = nodes_.of_rank(0);
  if (!first.can_be_asked()) return Failure{"the job is only about to start, or to end: ask again"};
  waiting_.push_back(std::move(answer));
  first.send(FrameType::kCheckpointNow, 0, "");
  return {};
}

void Checkpoints::give_up(const std::string& why) {
  answer(served_, Failure{why});
  answer(waiting_, Failure{why});
}

void Checkpoints::on_frame(std::string_view payload, std::uint16_t what) {
  if (what == kCheckpointFailed) return give_up(std::string(payload));
  const Result<CheckpointNews> news = unpacked<CheckpointNews>(payload, "news of a checkpoint cut short");
  if (!news) return;
  begun_ = *news;
  if (what == kCheckpointBegun) {
    if (first_ == 0) first_ = news->number;
    served_.insert(served_.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
    return;
  }
  written_ = Clock::now();
  answer(served_, {});
}

}  // namespace tmpi::launch
