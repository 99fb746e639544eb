// RankFiles: what a rank has said of files in general: the error handler of those that are not open yet, and the
// data representations that it has registered. Used by the rank only.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "mpi/base/errhandler.hpp"
#include "mpi/io/representation.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

class RankFiles {
 public:
  RankFiles();
  ~RankFiles() { release(handler); }
  RankFiles(const RankFiles&) = delete;
  RankFiles& operator=(const RankFiles&) = delete;

  /// Of MPI_FILE_NULL: files inherit it when they are opened, and errors that belong to no file go to it. At first
  /// MPI_ERRORS_RETURN (MPI report, 14.7).
  Errhandler* handler;
  std::vector<std::shared_ptr<const Representation>> representations;
};

/// The rank's, made when it is asked for first.
RankFiles& files_of(Rank& rank);

/// Of this name, the standard's or registered by the rank; null: the native one ("native", "internal").
/// MPI_ERR_UNSUPPORTED_DATAREP.
Err find_representation(Rank& rank, std::string_view name, std::shared_ptr<const Representation>& found);

}  // namespace tmpi::mpi
