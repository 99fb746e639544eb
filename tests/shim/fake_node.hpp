// The node process as the shim sees it, played by the test: remembers what ranks write, and ends a rank by
// returning to the test.
#pragma once

#include <functional>
#include <string>

namespace fake_node {

constexpr int kRanks = 4096;

/// What the rank wrote to stream 1 or 2 since the last call.
std::string take_output(int rank, int stream);
/// Number of tmpi_rank_write calls behind it, reset as well.
int take_writes(int rank);
/// At most so many bytes per tmpi_rank_write; 0: no limit.
void limit_writes(std::size_t bytes);
/// What rank 0 will read.
void set_input(const std::string& text);
/// Called when a rank asks for its destructors.
void on_fini(std::function<void(int rank)> callback);

/// Runs `program` until its rank ends; the exit code. A rank that the shim aborts with a reason gives -1, the
/// reason is in `why`.
int run_until_exit(const std::function<void()>& program, std::string* why = nullptr);

/// Rank that the process-wide handlers take for the running one.
void set_running_rank(int rank);

}  // namespace fake_node
