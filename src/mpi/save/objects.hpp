// The objects that programs have handles of, as data, one kind after the other: each is made anew where its handle points to.
// What it refers to has been made before. A function `why_not` says what cannot be saved of one, as the end of a sentence that
// begins with the rank's number.
#pragma once

#include <string>

#include "mpi/base/errhandler.hpp"
#include "mpi/base/error.hpp"
#include "mpi/base/info.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/packing.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

std::string why_not(const Comm& comm);
std::string why_not(const Datatype& type);
std::string why_not_group(MPI_Group group);

void save(Packer& to, const Errhandler& handler);
void save(Packer& to, const Info& info);
void save(Packer& to, const Op& op);
void save_group(Packer& to, MPI_Group group);
void save(Packer& to, const Datatype& type);
void save(Packer& to, const Comm& comm);
/// What a program can change of a communicator that it has not made, too: MPI_COMM_WORLD, MPI_COMM_SELF.
void save_settings(Packer& to, const Comm& comm);

void revive_errhandler(Unpacker& from);
void revive_info(Unpacker& from);
void revive_op(Unpacker& from);
void revive_group(Unpacker& from);
/// `freed`: the program has no handle of it any more; to be released when all types are there. `memory`: it goes where that
/// expects it.
Err revive_datatype(Unpacker& from, HandleMemory& memory, Datatype*& type, bool& freed);
void revive_comm(Unpacker& from, Rank& owner);
void take_settings(Unpacker& from, Comm& comm);

}  // namespace tmpi::mpi
