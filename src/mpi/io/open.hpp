// Opening, closing and deleting files. MPI report, 14.2.1 to 14.2.3. All SUSPEND.
#pragma once

#include "mpi/io/file.hpp"

namespace tmpi::mpi {

class Info;

/// All members of `comm`, each with its name of the same file. Everybody gets the file, or an error: its own, or
/// that another member could not. `mine`: what is wrong with this member's arguments already; `info` is not looked at
/// then.
Err open_file(Comm& comm, Err mine, const char* name, int amode, const Info* info, File*& opened);

/// For ranks that are saved (mpi/save): opens `file`, which is new, again, for all members of `comm`, its own communicator;
/// `amode`, hints and error handler are set. Its view is what a new file has.
Err reopen_file(File& file, Comm& comm, const char* name);

/// All members. The file is gone afterwards, whatever is returned.
Err close_file(File& file);

Err delete_file(const char* name);

}  // namespace tmpi::mpi
