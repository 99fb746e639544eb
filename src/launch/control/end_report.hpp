// EndReportFrame: a frame of what a node process says when its part of the job has ended.
#pragma once

#include <cstdint>
#include <string>

#include "launch/wire/wire.hpp"

namespace tmpi::launch {

struct EndReportFrame {
  FrameType type;
  std::uint16_t detail;
  std::string payload;
};

}  // namespace tmpi::launch
