// The objects that programs have handles of, as data, one kind after the other: each is made anew where its handle points to.
// What it refers to has been made before. A function `why_not` says what cannot be saved of one, as the end of a sentence that
// begins with the rank's number.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpi/base/errhandler.hpp"
#include "mpi/base/error.hpp"
#include "mpi/base/info.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/packing.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

struct Window;  // rma/window.hpp
struct File;    // io/file.hpp

std::string why_not(const Comm& comm);
std::string why_not(const Datatype& type);
std::string why_not_group(MPI_Group group);

void save(Packer& to, const Errhandler& handler);
void save(Packer& to, const Info& info);
void save(Packer& to, const Op& op);
void save_group(Packer& to, MPI_Group group);
void save(Packer& to, Datatype& type);
void save(Packer& to, const Comm& comm);
/// What a program can change of a communicator that it has not made, too: MPI_COMM_WORLD, MPI_COMM_SELF.
void save_settings(Packer& to, const Comm& comm);

/// The keys of the rank's attributes, before all that has some.
void save_keyvals(Packer& to, const Rank& rank);
void save_attributes_of_predefined(Packer& to, const Rank& rank);
void save_attributes(Packer& to, const std::unique_ptr<Attributes>& attributes);
void save_user_errors(Packer& to, const Rank& rank);

// Their parts.
void save_handler(Packer& to, Errhandler* handler);
Errhandler* take_handler(Unpacker& from);  ///< whose references are counted already
void save_entries(Packer& to, const std::vector<Info::Entry>& entries);
std::vector<Info::Entry> take_entries(Unpacker& from);

std::string why_not(const Window& window);
/// What the rank has done at other members is done there. False: one of them has refused something. SUSPENDS.
bool finish(Window& window);
void save(Packer& to, const Window& window);
Err revive_window(Unpacker& from, Rank& owner);

std::string why_not(const File& file);
void save(Packer& to, const File& file);
/// All members of its communicator. SUSPENDS. Failure: it cannot be opened here.
Err revive_file(Unpacker& from);
/// What the rank has said of files in general.
std::string why_not_files(const Rank& rank);
void save_rank_files(Packer& to, const Rank& rank);
void take_rank_files(Unpacker& from, Rank& rank);

void revive_errhandler(Unpacker& from);
void revive_info(Unpacker& from);
void revive_op(Unpacker& from);
void revive_group(Unpacker& from);
/// `freed`: the program has no handle of it any more; to be released when all types are there. `memory`: it goes where that
/// expects it.
Err revive_datatype(Unpacker& from, HandleMemory& memory, Datatype*& type, bool& freed);
void revive_comm(Unpacker& from, Rank& owner);
void take_settings(Unpacker& from, Comm& comm);
void take_keyvals(Unpacker& from, Rank& rank);
void take_attributes_of_predefined(Unpacker& from, Rank& rank);
void take_attributes(Unpacker& from, Rank& rank, std::unique_ptr<Attributes>& attributes);
void take_user_errors(Unpacker& from, Rank& rank);

}  // namespace tmpi::mpi
