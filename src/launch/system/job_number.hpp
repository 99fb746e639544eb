// A number by which a job's ports are told from those of other jobs. No secret.
#pragma once

#include <cstdint>

namespace tmpi::launch {

/// No other job has it. Without random numbers the process's number and the clock's have to do.
std::uint64_t number_of_job() noexcept;

}  // namespace tmpi::launch
