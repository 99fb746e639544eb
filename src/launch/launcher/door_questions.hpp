// What whoever asks a running job gets to hear (neighbours/job_door.hpp), and what is done for him.
#pragma once

#include <string_view>

#include "launch/wire/wire.hpp"

namespace tmpi::launch {

struct Job;

/// Answers by job.door, sooner or later.
void answer_question(Job& job, FrameType question, std::string_view about, int caller);

}  // namespace tmpi::launch
