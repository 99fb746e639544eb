// What a node process says when its part of the job has ended: its profile and trace, what is to be known of
// a replay: frame by frame.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "launch/wire/wire.hpp"

namespace tmpi::launch {

using SayAtEnd = std::function<void(FrameType type, std::uint16_t detail, std::string_view payload)>;

}  // namespace tmpi::launch
