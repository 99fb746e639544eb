// Listening: active messages of a room above (active.hpp) may come.
#pragma once

namespace tmpi::mpi::remote {

/// While one lives active messages may come at any time, and no receive says so: where progress is made beside the ranks,
/// somebody watches the network for them, although all ranks compute. Any rank.
class Listening {
 public:
  Listening() noexcept;
  ~Listening();
  Listening(const Listening&) = delete;
};

}  // namespace tmpi::mpi::remote
