// What a node process says of a checkpoint (kCheckpoint).
#pragma once

#include <cstdint>
#include <string>

#include "launch/wire/fields.hpp"

namespace tmpi::launch {

struct CheckpointNews {
  std::uint64_t number = 0;
  std::string directory;  ///< empty: in the memory of the hosts
};

void fields(auto& archive, Of<CheckpointNews> auto& news) {
  archive(news.number, news.directory);
}

}  // namespace tmpi::launch
