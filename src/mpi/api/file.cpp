// Files: opening and closing, what concerns them as a whole, views and pointers. MPI report, 14.2 to 14.4 and 14.6.
#include <cstring>

#include "mpi/api/file_calls.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/comm/group_handle.hpp"
#include "mpi/io/manage.hpp"
#include "mpi/io/open.hpp"
#include "mpi/io/representation.hpp"
#include "mpi/io/shared_pointer.hpp"
#include "mpi/rank/info.hpp"

namespace tmpi::mpi {
namespace {

// A datatype given away: the user frees it, if it is a derived one.
MPI_Datatype given_away(const Datatype& type) {
  type.retain();
  type.add_handle();
  return type.handle();
}

Err find_comm(Rank& rank, MPI_Comm handle, Comm*& comm) {
  comm = comm_from(rank, handle);
  if (comm != nullptr) return kOk;
  return fail(MPI_ERR_COMM, "the communicator is {}", handle == MPI_COMM_NULL ? "MPI_COMM_NULL" : "none");
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  return on_no_file("MPI_File_open", [&](Rank& rank) -> Err {
    Comm* c = nullptr;
    TMPI_TRY(find_comm(rank, comm, c));
    const Info* hints = nullptr;
    Err mine = check_pointer(fh, "fh");
    if (!mine) {
      *fh = MPI_FILE_NULL;
      mine = hints_from(info, hints);
    }
    File* opened = nullptr;
    TMPI_TRY(with_memory_for("opening a file",
                             [&] { return open_file(*c, mine, filename, amode, hints, opened); }));
    *fh = opened->handle();
    return kOk;
  });
}
TMPI_PROFILED(MPI_File_open);

int PMPI_File_close(MPI_File* fh) {
  const char* name = "MPI_File_close";
  if (fh == nullptr) return on_no_file(name, [](Rank&) { return null_pointer("fh"); });
  Errhandler* handler = nullptr;  // what is wrong is raised when the file is gone
  const Frame frame(name);
  Err error;
  const int code = on_file_together(name, *fh, [&](File& file) -> Err {
    if (file.split != nullptr)
      return fail(MPI_ERR_OTHER, "a split collective operation has been begun with {} and not ended",
                  file.path());
    handler = file.target.handler;
    retain(handler);
    error = close_file(file);
    *fh = MPI_FILE_NULL;
    return kOk;
  });
  if (code != MPI_SUCCESS) return code;
  const int result = error ? raise_on(name, {Raiser::kFile, MPI_FILE_NULL, handler}, error) : MPI_SUCCESS;
  release(handler);
  return result;
}
TMPI_PROFILED(MPI_File_close);

int PMPI_File_delete(const char* filename, MPI_Info info) {
  return on_no_file("MPI_File_delete", [&](Rank&) -> Err {
    const Info* hints = nullptr;
    TMPI_TRY(hints_from(info, hints));
    return delete_file(filename);
  });
}
TMPI_PROFILED(MPI_File_delete);

int PMPI_File_set_size(MPI_File fh, MPI_Offset size) {
  return on_file_together("MPI_File_set_size", fh, [&](File& file) { return set_size(file, size); });
}
TMPI_PROFILED(MPI_File_set_size);

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size) {
  return on_file_together("MPI_File_preallocate", fh, [&](File& file) { return preallocate(file, size); });
}
TMPI_PROFILED(MPI_File_preallocate);

int PMPI_File_get_size(MPI_File fh, MPI_Offset* size) {
  return on_file("MPI_File_get_size", fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(size, "size"));
    return get_size(file, *size);
  });
}
TMPI_PROFILED(MPI_File_get_size);

int PMPI_File_get_group(MPI_File fh, MPI_Group* group) {
  return on_file("MPI_File_get_group", fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(group, "group"));
    *group = make_handle(file.comm->shared->group, file.comm->session);
    return kOk;
  });
}
TMPI_PROFILED(MPI_File_get_group);

int PMPI_File_get_amode(MPI_File fh, int* amode) {
  return on_file("MPI_File_get_amode", fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(amode, "amode"));
    *amode = file.amode;
    return kOk;
  });
}
TMPI_PROFILED(MPI_File_get_amode);

int PMPI_File_set_info(MPI_File fh, MPI_Info info) {
  return on_file_together("MPI_File_set_info", fh, [&](File& file) -> Err {
    const Info* hints = nullptr;
    const Err mine = hints_from(info, hints);
    return set_hints(file, mine, hints);
  });
}
TMPI_PROFILED(MPI_File_set_info);

int PMPI_File_get_info(MPI_File fh, MPI_Info* info_used) {
  return on_file("MPI_File_get_info", fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(info_used, "info_used"));
    *info_used = handle_of(*new Info(entries_of(file.hints, static_cast<int>(file.aggregators.size()))));
    return kOk;
  });
}
TMPI_PROFILED(MPI_File_get_info);

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char* datarep, MPI_Info info) {
  return on_file_together("MPI_File_set_view", fh, [&](File& file) -> Err {
    const Info* hints = nullptr;
    std::string_view name;
    Err mine = check_pointer(datarep, "datarep");
    if (!mine) {
      name = {datarep, ::strnlen(datarep, MPI_MAX_DATAREP_STRING)};
      mine = hints_from(info, hints);
    }
    return set_view(file, mine, {disp, etype, filetype, name}, hints);
  });
}
TMPI_PROFILED(MPI_File_set_view);

int PMPI_File_get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                       char* datarep) {
  return on_file("MPI_File_get_view", fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(disp, "disp"));
    TMPI_TRY(check_pointer(etype, "etype"));
    TMPI_TRY(check_pointer(filetype, "filetype"));
    TMPI_TRY(check_pointer(datarep, "datarep"));
    const View& view = *file.view;
    *disp = view.disp();
    *etype = given_away(view.etype());
    *filetype = given_away(view.filetype());
    const char* name = view.representation() != nullptr ? view.representation()->name().c_str()
                       : file.internal                  ? kInternal
                                                        : kNative;
    std::memcpy(datarep, name, std::strlen(name) + 1);
    return kOk;
  });
}
TMPI_PROFILED(MPI_File_get_view);

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  return on_file("MPI_File_seek", fh, [&](File& file) { return seek(file, offset, whence); });
}
TMPI_PROFILED(MPI_File_seek);

int PMPI_File_get_position(MPI_File fh, MPI_Offset* offset) {
  return on_file("MPI_File_get_position", fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(offset, "offset"));
    *offset = file.position;
    return kOk;
  });
}
TMPI_PROFILED(MPI_File_get_position);

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  return on_file("MPI_File_get_byte_offset", fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(disp, "disp"));
    return byte_offset(file, offset, *disp);
  });
}
TMPI_PROFILED(MPI_File_get_byte_offset);

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  return on_file_together("MPI_File_seek_shared", fh,
                          [&](File& file) { return seek_shared(file, offset, whence); });
}
TMPI_PROFILED(MPI_File_seek_shared);

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  return on_file("MPI_File_get_position_shared", fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(offset, "offset"));
    return move_shared_pointer(file, 0, *offset);
  });
}
TMPI_PROFILED(MPI_File_get_position_shared);

int PMPI_File_set_atomicity(MPI_File fh, int flag) {
  return on_file_together("MPI_File_set_atomicity", fh,
                          [&](File& file) { return set_atomicity(file, flag != 0); });
}
TMPI_PROFILED(MPI_File_set_atomicity);

int PMPI_File_get_atomicity(MPI_File fh, int* flag) {
  return on_file("MPI_File_get_atomicity", fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(flag, "flag"));
    *flag = file.atomic;
    return kOk;
  });
}
TMPI_PROFILED(MPI_File_get_atomicity);

int PMPI_File_sync(MPI_File fh) {
  return on_file_together("MPI_File_sync", fh, [](File& file) { return sync(file); });
}
TMPI_PROFILED(MPI_File_sync);
