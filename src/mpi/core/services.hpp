// What the MPI library asks of the program that hosts it (tmpi-node, or libtmpi.so's bootstrap for a program
// started by itself). Registered once before any rank runs; the MPI library never calls up otherwise.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tmpi::mpi {

struct Rank;

struct Services {
  /// Ends the whole job at once with exit code `code` (MPI_Abort, a fatal MPI error); `text` is the one
  /// message the user sees, empty if it has been printed. Does not return.
  void (*abort_job)(Rank& rank, int code, const std::string& text);

  /// The rank has come through MPI_Init / MPI_Finalize: from now on (until then) leaving the program ends the
  /// job.
  void (*initialized)(Rank& rank);
  void (*finalized)(Rank& rank);

  /// A program started by itself calls MPI_Init: create the job of one rank and make the calling flow its
  /// task. Null in tmpi-node.
  void (*start_singleton)();

  /// What MPI_INFO_ENV says of how the rank was started, as key and value: command, argv, maxprocs, soft,
  /// wdir, file. Null: nothing is known.
  std::vector<std::pair<std::string, std::string>> (*start_entries)(const Rank& rank);
};

void register_services(const Services& services);
const Services& services() noexcept;

}  // namespace tmpi::mpi
