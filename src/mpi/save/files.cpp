// MPI files: how each is open, and what the rank sees of it. What is in them is not saved; all members open them again together,
// in the order in which they have.
#include <limits.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "mpi/coll/coll.hpp"
#include "mpi/io/file.hpp"
#include "mpi/io/manage.hpp"
#include "mpi/io/open.hpp"
#include "mpi/io/rank_files.hpp"
#include "mpi/save/objects.hpp"

namespace tmpi::mpi {
namespace {

/// Wherever the rank has gone meanwhile.
std::string name_now(const File& file) {
  std::array<char, PATH_MAX> path;
  const std::string link = "/proc/self/fd/" + std::to_string(file.node->fd());
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : file.path();
}

const char* representation_of(const File& file) noexcept {
  if (file.view->representation() != nullptr) return file.view->representation()->name().c_str();
  return file.internal ? kInternal : kNative;
}

}  // namespace

std::string why_not(const File& file) {
  if (file.split != nullptr || file.under_way > 0) return "has operations under way on an MPI file";
  const std::string path = name_now(file);
  if (access(path.c_str(), F_OK) != 0)
    return "has an MPI file open that has been deleted (" + file.path() + ")";
  return "";
}

std::string why_not_files(const Rank& rank) {
  return rank.files.get() != nullptr && !rank.files->representations.empty()
             ? "has a data representation of its own (MPI_Register_datarep)"
             : "";
}

void save_rank_files(Packer& to, const Rank& rank) {
  to.value(rank.files.get() != nullptr);
  if (rank.files.get() != nullptr) save_handler(to, rank.files->handler);
}

void take_rank_files(Unpacker& from, Rank& rank) {
  if (!from.value<bool>()) return;
  RankFiles& files = files_of(rank);
  release(files.handler);
  files.handler = take_handler(from);  // its references are counted already
}

void save(Packer& to, const File& file) {
  to.value(reinterpret_cast<std::uintptr_t>(file.comm));
  to.value(file.amode);
  to.value(file.atomic);
  to.value(file.hints);
  save_handler(to, file.target.handler);
  to.text(name_now(file));
  to.value(file.node->shared_position.load());
  to.value(file.position);
  to.value(file.view->disp());
  to.value(reinterpret_cast<std::uintptr_t>(file.view->etype().handle()));
  to.value(reinterpret_cast<std::uintptr_t>(file.view->filetype().handle()));
  to.text(representation_of(file));
}

Err revive_file(Unpacker& from) {
  auto& file = *new File;
  auto& comm = *reinterpret_cast<Comm*>(from.value<std::uintptr_t>());
  file.amode = from.value<int>();
  file.atomic = from.value<bool>();
  const auto hints = from.value<Hints>();
  file.hints = hints;
  file.target = {Raiser::kFile, file.handle(), take_handler(from)};
  const std::string name = from.text();
  const auto shared_position = from.value<MPI_Offset>(), position = from.value<MPI_Offset>(),
             disp = from.value<MPI_Offset>();
  MPI_Datatype const etype = reinterpret_cast<MPI_Datatype>(from.value<std::uintptr_t>());
  MPI_Datatype const filetype = reinterpret_cast<MPI_Datatype>(from.value<std::uintptr_t>());
  const std::string representation = from.text();
  TMPI_TRY(reopen_file(file, comm, name.c_str()));
  const Info none;
  TMPI_TRY(set_view(file, kOk, {disp, etype, filetype, representation}, &none));
  file.hints = hints;
  file.position = position;
  if (comm.rank == 0) file.node->shared_position = shared_position;
  return barrier(comm);
}

}  // namespace tmpi::mpi
