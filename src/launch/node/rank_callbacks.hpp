// The node process's side of privatize/rank_callbacks.hpp: what the code inside a rank's image asks for.
#pragma once

namespace tmpi::launch {

/// Before any rank runs.
void register_rank_callbacks() noexcept;

}  // namespace tmpi::launch
