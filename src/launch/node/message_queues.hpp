// Where debuggers find the library that reads the message queues of this node process (src/msgq).
#pragma once

namespace tmpi::launch {

/// Says so for good, by MPIR_dll_name. Before a debugger can know of this process; one thread.
void name_message_queue_library();

}  // namespace tmpi::launch
