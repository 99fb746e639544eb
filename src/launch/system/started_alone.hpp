// A program of tmpi that a rank has started as a process of its own (`tmpirun -n 2 sh -c ./hello`) would run as rank 0
// of 1, beside the job that it was meant for. libtmpi.so notices by the rank's variables, and tells tmpirun by a
// SIGTERM that carries this number (sigqueue), so that one message ends the job.
#pragma once

namespace tmpi::launch {

inline constexpr int kStartedAlone = 0x746d7069;

/// In the environment of every rank, and so of what it starts.
inline constexpr const char* kWorldSizeVariable = "TMPI_COMM_WORLD_SIZE";

}  // namespace tmpi::launch
