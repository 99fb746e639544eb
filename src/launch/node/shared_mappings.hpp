// Memory that another process may write: whoever looks at it in a loop may be waiting for that.
#pragma once

namespace tmpi::launch {

/// This process has mapped something that other processes may have mapped, too: a file, shared memory, a device. Read
/// from /proc; without that it has. Any thread; takes as long as there are mappings.
bool shares_memory();

}  // namespace tmpi::launch
