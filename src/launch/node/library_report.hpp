// `tmpirun --show-libraries`: what a program needs, and whose it is.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "launch/spec/job_spec.hpp"
#include "privatize/ownership.hpp"

namespace tmpi::launch {

/// What the loader is to know of a program of the job: its libraries, and where they are searched.
privatize::LibraryChoices library_choices(const JobSpec& job, const AppSpec& app);

/// The value of a variable in the environment of the program's ranks as it starts; empty: none.
std::string value_for(const AppSpec& app, std::string_view name);

/// A table of what `words` asks for: the program, then `--share-library=NAME`, `--private-library=NAME`, `-x=VAR=VALUE`.
/// Failure: a library is missing, or cannot be loaded.
Result<std::string> describe_libraries(std::span<char* const> words);

}  // namespace tmpi::launch
