#include "mpi/io/rank_files.hpp"

namespace tmpi::mpi {

RankFiles::RankFiles() : handler(errhandler_from(MPI_ERRORS_RETURN)) {}

RankFiles& files_of(Rank& rank) {
  if (rank.files == nullptr) rank.files = std::make_unique<RankFiles>();
  return *rank.files;
}

Err find_representation(Rank& rank, std::string_view name, std::shared_ptr<const Representation>& found) {
  found = nullptr;
  if (name == kNative || name == kInternal) return kOk;
  if (name == kExternal32) {
    found = external32();
    return kOk;
  }
  for (const auto& registered : files_of(rank).representations) {
    if (registered->name() != name) continue;
    found = registered;
    return kOk;
  }
  return fail(
      MPI_ERR_UNSUPPORTED_DATAREP,
      "there is no data representation \"{}\": neither native, internal or external32, nor registered by "
      "this rank (MPI_Register_datarep)",
      name);
}

}  // namespace tmpi::mpi
