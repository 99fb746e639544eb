#include "launch/node/message_queues.hpp"

#include <limits.h>

#include <cstring>
#include <string>

#include "base/result.hpp"
#include "launch/system/program_path.hpp"

// The name is the message queue interface's: an absolute path, or nothing where there is no library.
extern "C" {
__attribute__((visibility("default"), used)) char MPIR_dll_name[PATH_MAX] = "";
}

namespace tmpi::launch {

void name_message_queue_library() {
  const Result<std::string> library = find_companion("libtmpi_msgq.so");
  if (library && library->size() < sizeof MPIR_dll_name)
    std::memcpy(MPIR_dll_name, library->c_str(), library->size() + 1);
}

}  // namespace tmpi::launch
