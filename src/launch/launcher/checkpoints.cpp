#include "launch/launcher/checkpoints.hpp"

namespace tmpi::launch {

void Checkpoints::request(Answer answer) {
  if (!settings_.job.checkpoints)
    return answer(Failure{"the job was not started with --checkpoint or --survive"});
  Node& first = nodes_.of_rank(0);
  if (!first.can_be_asked()) return answer(Failure{"the job is only about to start, or to end: ask again"});
  waiting_.push_back(std::move(answer));
  first.send(FrameType::kCheckpointNow, 0, "");
}

void Checkpoints::on_frame(std::string_view payload, std::uint16_t what) {
  if (what != kCheckpointFailed) {
    const Result<CheckpointNews> news = unpacked<CheckpointNews>(payload, "news of a checkpoint cut short");
    if (!news) return;
    begun_ = *news;
    if (first_ == 0) first_ = news->number;
    if (what == kCheckpointBegun) return;
    written_ = Clock::now();
  }
  const Result<void> result = what == kCheckpointComplete ? Result<void>{} : Failure{std::string(payload)};
  for (const Answer& answer : std::exchange(waiting_, {})) answer(result);
}

}  // namespace tmpi::launch
