// How the programs that gather node processes turn into the two programs of tmpi that run the job.
#pragma once

#include "base/result.hpp"
#include "launch/attach/attachment.hpp"

namespace tmpi::launch {

/// Replaces this program by tmpirun, with the arguments behind argv[0], and hands it the attachment with the job's
/// key. Returns only on failure.
Result<void> exec_tmpirun(Attachment attachment, const net::JobKey& key, char** argv);

/// Replaces this program by a node process that has its tmpirun at the other end of `channel`, to which it has attached itself
/// as `number`. Returns only on failure.
Result<void> exec_node(int channel, const net::JobKey& key, int number);

}  // namespace tmpi::launch
