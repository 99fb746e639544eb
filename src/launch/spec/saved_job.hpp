// What a checkpoint says of the job as a whole: a file beside those of its ranks (node/saved_rank.hpp).
//
//     DIRECTORY/last/job, DIRECTORY/last/rank-0, rank-1, ...   the checkpoint that is in force
//     DIRECTORY/next                                           one that is being written, or was when the job ended
//     DIRECTORY/before                                         the one that `last` has replaced a moment ago
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "launch/spec/job_spec.hpp"

namespace tmpi::launch {

/// Folder of the checkpoint that is in force in `directory`. Failure: there is none.
Result<std::string> find_checkpoint(const std::string& directory);

/// The job whose checkpoint lies in `folder`, of this user and of this version of tmpi.
Result<JobSpec> read_saved_job(const std::string& folder);
Result<void> write_saved_job(const std::string& folder, const JobSpec& job);

/// A file of the calling user's, that nobody else can have written to, open for reading; or why not.
Result<Fd> open_own_file(const std::string& path);

}  // namespace tmpi::launch
