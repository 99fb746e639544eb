// What stands behind "sim:" in --net: a preset's name, or settings, or settings that override a preset's.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "net/sim/model.hpp"

namespace tmpi::net::sim {

/// The settings as a model, times multiplied by the dilation. An empty text is the first preset. Failures say
/// what is accepted.
Result<Model> parse_settings(std::string_view text);

/// For --net help.
extern const char* const kSettingsHelp;

}  // namespace tmpi::net::sim
