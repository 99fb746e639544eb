// The end of a helper thread's key values; the key functions themselves are in runtime_functions.hpp.
#pragma once

#include <string>

namespace tmpi::privatize {

struct KeyValues;
struct RankState;

/// Runs the destructors of a helper thread's values, as libc does when a thread ends, and frees `values` (may
/// be null).
void end_helper_keys(RankState& state, KeyValues* values);

/// The values of the rank's own flow of control as bytes, and back.
std::string own_key_values(const RankState& state);
void set_own_key_values(RankState& state, const std::string& bytes);

/// Frees `values` (may be null) without running destructors, as at the end of a process.
void delete_key_values(KeyValues* values) noexcept;

}  // namespace tmpi::privatize
