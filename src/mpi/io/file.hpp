// File: what an MPI_File points at: one rank's view of an open file. What the members of its communicator in this
// node process share is in NodeFile. Used by its rank only. MPI report, chapter 14. docs/design/files.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/owned.hpp"
#include "mpi/io/hints.hpp"
#include "mpi/io/node_file.hpp"
#include "mpi/io/view.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {

class SplitCollective;  // operations.hpp: between MPI_File_..._begin and _end
class PointerServer;    // shared_pointer.cpp

struct File {
  TMPI_IN_HANDLE_MEMORY(HandleKind::kFile, File)
  static constexpr std::uint32_t kMagic = 0x46494c45;  // "FILE"
  std::uint32_t magic = kMagic;
  int amode = 0;
  bool atomic = false;
  std::shared_ptr<NodeFile> node;
  Comm* comm = nullptr;  ///< the file's own, a duplicate of the one that opened it; owned
  Hints hints;
  std::vector<int> aggregators;      ///< ranks that write and read for all, in collective operations
  std::shared_ptr<const View> view;  ///< never null
  bool internal = false;         ///< its data representation, which is the native one, was called "internal"
  MPI_Offset position = 0;       ///< individual file pointer, in etypes
  ErrorTarget target{};          ///< with the error handler, of which it holds a reference
  Owned<SplitCollective> split;  ///< null: none is open
  Owned<PointerServer> server;   ///< of the shared pointer, at rank 0 if there are several node processes
  MPI_Count questions = 0;       ///< that this member has asked it
  int under_way = 0;             ///< nonblocking operations that have not ended
  sched::Waiter* settled = nullptr;  ///< MPI_File_close, which waits for the last of them

  bool readable() const noexcept { return (amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR)) != 0; }
  bool writable() const noexcept { return (amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0; }
  bool sequential() const noexcept { return (amode & MPI_MODE_SEQUENTIAL) != 0; }
  const std::string& path() const noexcept { return node->path(); }
  MPI_File handle() noexcept { return reinterpret_cast<MPI_File>(this); }
};

/// The file behind a handle; null for MPI_FILE_NULL and for what is no open file.
File* file_from(MPI_File handle) noexcept;

/// Errors that belong to no open file: MPI_FILE_NULL's handler.
ErrorTarget no_file(Rank& rank) noexcept;

}  // namespace tmpi::mpi
