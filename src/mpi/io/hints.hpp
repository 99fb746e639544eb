// Hints: what MPI_File_open, MPI_File_set_view and MPI_File_set_info are told in info objects: ROMIO's names and
// meanings (MPI report, 14.2.8). The same for all members of a file's communicator: those of rank 0. docs/design/files.md.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/base/info.hpp"
#include "mpi/io/striping.hpp"

namespace tmpi::mpi {

enum class Choice : std::uint8_t { kAutomatic, kEnable, kDisable };

struct Hints {
  MPI_Count cb_buffer_size = MPI_Count{4} << 20;      ///< bytes that an aggregator collects before it writes
  MPI_Count cb_nodes = 0;                             ///< aggregators; 0: one for each worker
  MPI_Count ind_rd_buffer_size = MPI_Count{4} << 20;  ///< bytes that data sieving reads at once
  MPI_Count ind_wr_buffer_size = MPI_Count{512} << 10;
  Choice cb_read = Choice::kAutomatic;
  Choice cb_write = Choice::kAutomatic;
  Choice ds_read = Choice::kAutomatic;
  Choice ds_write = Choice::kAutomatic;
  Striping striping;  ///< wanted, until the file is open; then how it lies
};

/// Takes over what `info` says in a way that makes sense; the rest is passed over, as hints are.
void take_hints(Hints& hints, const Info& info);

/// All that are known; `aggregators`: how many there are.
std::vector<Info::Entry> entries_of(const Hints& hints, int aggregators);

}  // namespace tmpi::mpi
