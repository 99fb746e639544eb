// The end of a helper thread's key values; the key functions themselves are in runtime_functions.hpp.
#pragma once

namespace tmpi::privatize {

struct KeyValues;
struct RankState;

/// Runs the destructors of a helper thread's values, as libc does when a thread ends, and frees `values` (may
/// be null).
void end_helper_keys(RankState& state, KeyValues* values);

/// Frees `values` (may be null) without running destructors, as at the end of a process.
void delete_key_values(KeyValues* values) noexcept;

}  // namespace tmpi::privatize
