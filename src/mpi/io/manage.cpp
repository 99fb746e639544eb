#include "mpi/io/manage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "mpi/datatype/check.hpp"
#include "mpi/io/io_error.hpp"
#include "mpi/io/rank_files.hpp"
#include "mpi/io/shared_pointer.hpp"
#include "mpi/io/size_limit.hpp"
#include "mpi/io/together.hpp"

namespace tmpi::mpi {
namespace {

// Makes a system call at rank 0; everybody gets its error.
template <class SystemCall>
Err at_first(File& file, const char* doing, SystemCall&& call) {
  int error = 0;
  if (file.comm->rank == 0) file.node->run([&] { error = call(file.node->fd()); });
  TMPI_TRY(from_first(*file.comm, &error));
  return error == 0 ? kOk : file_failed_at(0, doing, file.path(), error);
}

// Everybody's `mine`, which must be the same.
Err check_same(File& file, MPI_Count mine, const char* argument) {
  MPI_Count ends[2] = {mine, -mine};
  TMPI_TRY(smallest(*file.comm, ends, 2));
  if (ends[0] == -ends[1]) return kOk;
  return fail(MPI_ERR_NOT_SAME,
              "{} is {} here, but between {} and {} in the members of the file's communicator", argument,
              mine, ends[0], -ends[1]);
}

Err check_size(File& file, MPI_Offset size) {
  Err error;
  if (size < 0) {
    error = fail(MPI_ERR_ARG, "size is {}: it must not be negative", size);
  } else if (!file.writable()) {
    error = fail(MPI_ERR_READ_ONLY, "{} was opened with MPI_MODE_RDONLY", file.path());
  } else if (file.sequential()) {
    error = fail(MPI_ERR_UNSUPPORTED_OPERATION, "{} was opened with MPI_MODE_SEQUENTIAL", file.path());
  }
  TMPI_TRY(agree_on(*file.comm, error, "its arguments"));
  return check_same(file, size, "size");
}

// Storage for all bytes before `size`; what is there stays.
int allocate(int fd, MPI_Offset size) noexcept {
  if (size == 0) return 0;
  const SizeLimit limit;
  int error = 0;
  do {
    error = posix_fallocate(fd, 0, size);
  } while (error == EINTR);
  return error;
}

// Where an offset with `whence` leads, in etypes.
Err destination(File& file, MPI_Offset offset, int whence, MPI_Offset current, MPI_Offset& target) {
  MPI_Offset from = 0;
  switch (whence) {
    case MPI_SEEK_SET:
      break;
    case MPI_SEEK_CUR:
      from = current;
      break;
    case MPI_SEEK_END: {
      MPI_Offset size = 0;
      TMPI_TRY(get_size(file, size));
      const View& view = *file.view;
      from = (view.bytes_before(size) + view.unit() - 1) / view.unit();
      break;
    }
    default:
      return fail(MPI_ERR_ARG, "whence is {}: it must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
  }
  if (__builtin_add_overflow(from, offset, &target) || target < 0)
    return fail(MPI_ERR_ARG, "offset {} leads from {} to a place before the view's first byte, or to none",
                offset, from);
  return kOk;
}

struct Seen {
  Datatype* etype = nullptr;
  Datatype* filetype = nullptr;
  MPI_Offset disp = 0;
  std::shared_ptr<const Representation> representation;
};

Err check_view(File& file, const ViewArguments& wanted, Seen& seen) {
  TMPI_TRY(check_type(wanted.etype, seen.etype));
  TMPI_TRY(check_type(wanted.filetype, seen.filetype));
  TMPI_TRY(find_representation(*file.comm->owner, wanted.representation, seen.representation));
  seen.disp = wanted.disp;
  if (wanted.disp == MPI_DISPLACEMENT_CURRENT) {
    if (!file.sequential())
      return fail(MPI_ERR_ARG,
                  "disp is MPI_DISPLACEMENT_CURRENT, which is for files of MPI_MODE_SEQUENTIAL only");
    MPI_Offset current = 0;
    TMPI_TRY(move_shared_pointer(file, 0, current));
    seen.disp = file.view->offset_of(current * file.view->unit());
  } else if (file.sequential()) {
    return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                "{} was opened with MPI_MODE_SEQUENTIAL: disp has to be MPI_DISPLACEMENT_CURRENT",
                file.path());
  }
  return View::check(seen.disp, *seen.etype, *seen.filetype);
}

// The types as they are in the file, with a reference of the caller's each.
Err in_file(const Seen& seen, const Datatype*& etype, const Datatype*& filetype) {
  if (seen.representation == nullptr) {
    etype = seen.etype;
    filetype = seen.filetype;
    etype->retain();
    filetype->retain();
    return kOk;
  }
  TMPI_TRY(type_in_file(*seen.etype, *seen.representation, etype));
  if (Err error = type_in_file(*seen.filetype, *seen.representation, filetype)) {
    etype->release();
    return error;
  }
  return kOk;
}

Err make_view(const Seen& seen, std::shared_ptr<const View>& view) {
  const Datatype* etype = nullptr;
  const Datatype* filetype = nullptr;
  TMPI_TRY(in_file(seen, etype, filetype));
  // With other extents of the basic elements, elements at places in bytes may lie on each other.
  Err error;
  if (seen.representation != nullptr) {
    error = View::check_types(*etype, *filetype);
    if (error)
      error = fail(error.error_class(), "as it is in data representation \"{}\": {}",
                   seen.representation->name(), take_explanation());
  }
  if (!error)
    view = std::make_shared<const View>(seen.disp, *seen.etype, *seen.filetype, *etype, *filetype,
                                        seen.representation);
  etype->release();
  filetype->release();
  return error;
}

Err take_hints_of_first(File& file, const Info& info) {
  Hints hints = file.hints;
  if (file.comm->rank == 0) take_hints(hints, info);
  TMPI_TRY(from_first(*file.comm, &hints));
  hints.cb_nodes = file.hints.cb_nodes;  // fixed since the file was opened
  hints.striping = file.hints.striping;
  file.hints = hints;
  return barrier(*file.comm);
}

}  // namespace

Err get_size(File& file, MPI_Offset& size) {
  struct stat status {};
  if (fstat(file.node->fd(), &status) != 0) return file_failed("asking for the size of", file.path(), errno);
  size = status.st_size;
  return kOk;
}

Err set_size(File& file, MPI_Offset size) {
  TMPI_TRY(check_size(file, size));
  return at_first(file, "resizing", [&](int fd) {
    const SizeLimit limit;
    return ftruncate(fd, size) != 0 ? errno : 0;
  });
}

Err preallocate(File& file, MPI_Offset size) {
  TMPI_TRY(check_size(file, size));
  return at_first(file, "allocating space for", [&](int fd) { return allocate(fd, size); });
}

// One member of each node process: what it has written has been written by one descriptor. Nothing by one that only
// reads; then all meet, and what others have written before is seen.
Err sync(File& file) {
  Err error;
  const NodeMap& map = *file.node->map;
  TMPI_TRY(barrier(*file.comm));  // what the others have written before is in the file by now
  if (file.writable() && map.leader(map.mine()) == file.comm->rank) {
    const int failed = file.node->sync();
    if (failed != 0 && failed != EINVAL) error = file_failed("syncing", file.path(), failed);
  }
  return agree_on(*file.comm, error, "MPI_File_sync");
}

Err set_atomicity(File& file, bool atomic) {
  TMPI_TRY(check_same(file, atomic, "flag"));
  file.atomic = atomic;
  return kOk;
}

Err set_view(File& file, Err mine, const ViewArguments& wanted, const Info* info) {
  Seen seen;
  std::shared_ptr<const View> view;
  const std::string_view name = wanted.representation;
  Err error = mine;
  if (!error) error = check_view(file, wanted, seen);
  if (!error) error = make_view(seen, view);
  TMPI_TRY(agree_on(*file.comm, error, "its arguments of MPI_File_set_view"));
  TMPI_TRY(check_same(file, view->unit(), "the size of the etype"));
  TMPI_TRY(check_same(file, static_cast<MPI_Count>(std::hash<std::string_view>{}(name) >> 2),
                      "the hash of datarep"));
  file.view = std::move(view);
  file.internal = name == kInternal;
  file.position = 0;
  if (file.comm->rank == 0) file.node->shared_position = 0;
  return take_hints_of_first(file, *info);  // and everybody has come
}

Err set_hints(File& file, Err mine, const Info* info) {
  TMPI_TRY(agree_on(*file.comm, mine, "its arguments of MPI_File_set_info"));
  return take_hints_of_first(file, *info);
}

Err seek_shared(File& file, MPI_Offset offset, int whence) {
  TMPI_TRY(check_same(file, offset, "offset"));
  TMPI_TRY(check_same(file, whence, "whence"));
  Err error;
  if (file.comm->rank == 0) {
    MPI_Offset target = 0;
    error = destination(file, offset, whence, file.node->shared_position, target);
    if (!error) file.node->shared_position = target;
  }
  return agree_on(*file.comm, error, "MPI_File_seek_shared");
}

Err seek(File& file, MPI_Offset offset, int whence) {
  if (file.sequential())
    return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                "{} was opened with MPI_MODE_SEQUENTIAL: there is no individual file pointer", file.path());
  MPI_Offset target = 0;
  TMPI_TRY(destination(file, offset, whence, file.position, target));
  file.position = target;
  return kOk;
}

Err byte_offset(const File& file, MPI_Offset offset, MPI_Offset& disp) {
  MPI_Count position = 0;
  if (offset < 0 || __builtin_mul_overflow(offset, file.view->unit(), &position) ||
      !file.view->reaches(position))
    return fail(MPI_ERR_ARG, "offset is {}: negative, or behind the last one that a file can have", offset);
  disp = file.view->offset_of(position);
  return kOk;
}

Err type_extent(const File& file, const Datatype& type, MPI_Count& extent) {
  extent = type.extent();
  if (file.view->representation() == nullptr) return kOk;
  const Datatype* in_file = nullptr;
  TMPI_TRY(type_in_file(type, *file.view->representation(), in_file));
  extent = in_file->extent();
  in_file->release();
  return kOk;
}

}  // namespace tmpi::mpi
