#include "mpi/io/open.hpp"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "mpi/base/check.hpp"
#include "mpi/base/format_into.hpp"
#include "mpi/create/create.hpp"
#include "mpi/io/io_error.hpp"
#include "mpi/io/operations.hpp"
#include "mpi/io/rank_files.hpp"
#include "mpi/io/shared_pointer.hpp"
#include "mpi/io/striping.hpp"
#include "mpi/io/together.hpp"
#include "sched/scheduler.hpp"
#include "sched/sleep.hpp"

namespace tmpi::mpi {
namespace {

constexpr mode_t kPermissions = 0666;  // but for the umask
constexpr std::size_t kLongestName = 4096;

// A name is looked up in the rank's directory, which is its worker's thread's: on other threads by this descriptor.
class Directory {
 public:
  explicit Directory(const char* name) noexcept
      : fd_(*name == '/' ? AT_FDCWD : open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  ~Directory() {
    if (fd_ != AT_FDCWD && fd_ >= 0) close(fd_);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  int fd() const noexcept { return fd_ < 0 ? AT_FDCWD : fd_; }

 private:
  const int fd_;
};

template <class Call>
int in_pool(Call&& call) noexcept {
  int error = 0;
  const auto make = [&] { error = call() < 0 ? errno : 0; };
  if (sched::has_company()) {
    sched::offload(make);
  } else {
    make();
  }
  return error;
}

// Of the name that /proc gives for a file that has lost it: another file may be called like that.
bool lost_name(std::string_view name, const struct stat& opened) noexcept {
  struct stat found {};
  return name.ends_with(" (deleted)") &&
         (lstat(name.data(), &found) != 0 || found.st_dev != opened.st_dev || found.st_ino != opened.st_ino);
}

// The name that an open file has now, wherever its rank has gone meanwhile. None: somebody has deleted it already.
int unlink_open(int fd) noexcept {
  char link[32], name[kLongestName + 1];
  struct stat opened {};
  if (fstat(fd, &opened) != 0) return -1;
  if (opened.st_nlink == 0) return 0;
  format_into(link, "/proc/self/fd/{}", fd);
  const ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 0) return -1;
  name[length] = '\0';
  return lost_name({name, static_cast<std::size_t>(length)}, opened) ? 0 : unlink(name);
}

Err check_name(const char* name) {
  TMPI_TRY(check_pointer(name, "filename"));
  if (*name == '\0') return fail(MPI_ERR_BAD_FILE, "the file name is empty");
  if (::strnlen(name, kLongestName) == kLongestName)
    return fail(MPI_ERR_BAD_FILE, "the file name is longer than {} characters", kLongestName - 1);
  return kOk;
}

// "ufs:name", as ROMIO has it: which file system this is, which tmpi sees by itself.
const char* without_file_system(const char* name) noexcept {
  for (const char* prefix :
       {"ufs:", "nfs:", "xfs:", "pvfs:", "pvfs2:", "lustre:", "gpfs:", "panfs:", "testfs:"}) {
    const std::size_t length = std::char_traits<char>::length(prefix);
    if (std::char_traits<char>::compare(name, prefix, std::min(length, ::strnlen(name, length))) == 0 &&
        ::strnlen(name, length) == length)
      return name + length;
  }
  return name;
}

Err check_amode(int amode) {
  constexpr int kAll = MPI_MODE_APPEND | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_EXCL |
                       MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL | MPI_MODE_UNIQUE_OPEN |
                       MPI_MODE_WRONLY;
  if ((amode & ~kAll) != 0)
    return fail(MPI_ERR_AMODE, "amode is {}: it has bits that are no access mode", amode);
  const int access = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_RDWR && access != MPI_MODE_WRONLY)
    return fail(MPI_ERR_AMODE,
                "amode has to have exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY");
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return fail(MPI_ERR_AMODE, "amode has MPI_MODE_RDONLY together with MPI_MODE_CREATE or MPI_MODE_EXCL");
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return fail(MPI_ERR_AMODE, "amode has MPI_MODE_RDWR together with MPI_MODE_SEQUENTIAL");
  return kOk;
}

// What a member brings, and what it has found.
struct Proposal {
  int amode;
  int worker;
};
struct Found {
  int error = 0;
  NodeFile* node = nullptr;  // of the members in one process
};

// Sieving and changing what is around one's own data need to read, too: where that is allowed, also of a file that
// is opened for writing only.
int open_for(int directory, const char* name, int amode, bool first, int flags, bool& readable) noexcept {
  flags |= O_CLOEXEC | O_NOCTTY;
  if (first && (amode & MPI_MODE_CREATE) != 0) flags |= O_CREAT;
  if (first && (amode & MPI_MODE_EXCL) != 0) flags |= O_EXCL;
  readable = true;
  if ((amode & MPI_MODE_RDONLY) != 0) return openat(directory, name, flags | O_RDONLY);
  const int fd = openat(directory, name, flags | O_RDWR, kPermissions);
  if (fd >= 0 || (amode & MPI_MODE_WRONLY) == 0 || errno != EACCES) return fd;
  readable = false;
  return openat(directory, name, flags | O_WRONLY, kPermissions);
}

// The file system that a file called like this would be on.
long file_system_of(int directory, const char* name) noexcept {
  const std::string path(name);
  const std::size_t slash = path.rfind('/');
  const int fd = slash == std::string::npos
                     ? openat(directory, ".", O_PATH | O_CLOEXEC)
                     : openat(directory, path.substr(0, slash + 1).c_str(), O_PATH | O_CLOEXEC);
  struct statfs status {};
  const bool known = fd >= 0 && fstatfs(fd, &status) == 0;
  if (fd >= 0) close(fd);
  return known ? static_cast<long>(status.f_type) : 0;
}

// `first`: makes the file if it has to be, laid out as the hints say if the file system takes that.
Found open_here(const char* name, int amode, bool first, const Striping& wanted) {
  const Directory directory(name);
  struct stat status {};
  bool readable = true;
  int fd = -1;
  Found found;
  found.error = in_pool([&] {
    const bool stripes = first && wanted.any() && (amode & MPI_MODE_CREATE) != 0 &&
                         can_stripe(file_system_of(directory.fd(), name));
    fd = open_for(directory.fd(), name, amode, first, stripes ? kOpenWithoutLayout : 0, readable);
    if (fd >= 0 && stripes) {
      (void)set_striping(fd, wanted);  // a hint: a file that has data stays as it is
      close(fd);
      fd = open_for(directory.fd(), name, amode, false, 0, readable);
    }
    return fd < 0 ? -1 : fstat(fd, &status);
  });
  if (found.error == 0 && S_ISDIR(status.st_mode)) found.error = EISDIR;
  if (found.error == 0 && lseek(fd, 0, SEEK_CUR) < 0) found.error = errno;  // a pipe
  if (found.error != 0) {
    if (fd >= 0) close(fd);
    return found;
  }
  found.node = new NodeFile(fd, name, status, readable, (amode & MPI_MODE_RDONLY) == 0);
  return found;
}

// The first member on each worker; with the hint, so many of those, from all nodes in turn.
std::vector<int> choose_aggregators(const NodeFile& node, MPI_Count wanted) {
  const NodeMap& map = *node.map;
  std::vector<std::vector<int>> candidates(static_cast<std::size_t>(map.nodes()));
  std::size_t most = 0;
  for (int n = 0; n < map.nodes(); ++n) {
    std::set<int> seen;
    auto& here = candidates[static_cast<std::size_t>(n)];
    for (const int member : map.members(n)) {
      if (seen.insert(node.workers[static_cast<std::size_t>(member)]).second) here.push_back(member);
    }
    if (wanted > 0) {
      for (const int member : map.members(n)) {
        if (std::find(here.begin(), here.end(), member) == here.end()) here.push_back(member);
      }
    }
    most = std::max(most, here.size());
  }
  std::vector<int> chosen;
  for (std::size_t turn = 0; turn < most; ++turn) {
    for (const auto& here : candidates) {
      if (turn < here.size() && (wanted == 0 || static_cast<MPI_Count>(chosen.size()) < wanted))
        chosen.push_back(here[turn]);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Err check_requests(const std::vector<Proposal>& all) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].amode != all[0].amode)
      return fail(MPI_ERR_NOT_SAME, "amode is {} in rank 0 of the communicator, but {} in rank {}",
                  all[0].amode, all[rank].amode, rank);
  }
  return kOk;
}

// The first member of each node opens the file, that of rank 0 before the others. Afterwards each has its
// process's NodeFile, or none has.
Err open_on_nodes(Comm& comm, const char* name, int amode, const std::vector<Proposal>& all,
                  const Striping& wanted, std::shared_ptr<NodeFile>& node) {
  auto map = std::make_unique<NodeMap>(*comm.shared->group);
  const int here = map->mine();
  const bool opens = map->leader(here) == comm.rank;
  Found mine;
  if (comm.rank == 0) mine = open_here(name, amode, true, wanted);
  int first_error = mine.error;
  TMPI_TRY(from_first(comm, &first_error));
  if (first_error != 0) return file_failed_at(0, "opening", name, first_error);
  if (opens && comm.rank != 0) mine = open_here(name, amode, false, wanted);
  // Held by a pointer that the others take theirs from, until all have.
  std::shared_ptr<NodeFile> held(mine.node);
  if (opens && mine.node != nullptr) {
    for (const Proposal& member : all) held->workers.push_back(member.worker);
    held->map = std::move(map);
  }
  struct Offer {
    int error;
    std::shared_ptr<NodeFile>* held;
  };
  std::vector<Offer> offers;
  TMPI_TRY(gather_all(comm, Offer{mine.error, &held}, offers));
  Err error;
  for (std::size_t rank = 0; rank < offers.size() && !error; ++rank) {
    if (offers[rank].error != 0)
      error = file_failed_at(static_cast<int>(rank), "opening", name, offers[rank].error);
  }
  if (!error) {
    const NodeMap members(*comm.shared->group);
    node = *offers[static_cast<std::size_t>(members.leader(members.mine()))].held;
  }
  TMPI_TRY(barrier(comm));  // everybody has taken it
  return error;
}

}  // namespace

Err open_file(Comm& comm, Err mine, const char* name, int amode, const Info* info, File*& opened) {
  if (comm.inter())
    return fail(MPI_ERR_COMM, "comm is an intercommunicator, but must be an intracommunicator");
  if (comm.shared->other_job != nullptr)
    return fail(MPI_ERR_COMM,
                "the communicator has ranks of another job, who cannot open a file together; each job can by "
                "itself");
  Err error = mine;
  if (!error) error = check_name(name);
  if (!error) error = check_amode(amode);
  TMPI_TRY(agree_on(comm, error, "its arguments of MPI_File_open"));
  name = without_file_system(name);
  std::vector<Proposal> all;
  TMPI_TRY(gather_all(comm, Proposal{amode, sched::current_worker()}, all));
  TMPI_TRY(check_requests(all));
  auto file = std::make_unique<File>();
  if (comm.rank == 0) take_hints(file->hints, *info);
  TMPI_TRY(open_on_nodes(comm, name, amode, all, file->hints.striping, file->node));
  TMPI_TRY(duplicate(comm, file->comm));
  file->comm->name = "the file " + file->path();
  file->comm->raised_on = &file->target;
  file->amode = amode;
  file->view = View::bytes();
  file->hints.striping = comm.rank == 0 ? file->node->striping() : Striping{};
  struct {
    Hints hints;
    MPI_Offset end = 0;
  } agreed{.hints = file->hints};
  if (comm.rank == 0 && (amode & MPI_MODE_APPEND) != 0) {
    struct stat status {};
    if (fstat(file->node->fd(), &status) == 0) agreed.end = status.st_size;
  }
  TMPI_TRY(from_first(*file->comm, &agreed));
  file->hints = agreed.hints;
  file->position = agreed.end;
  file->node->shared_position = agreed.end;
  file->aggregators = choose_aggregators(*file->node, file->hints.cb_nodes);
  Errhandler* handler = files_of(*comm.owner).handler;
  retain(handler);
  file->target = {Raiser::kFile, file->handle(), handler};
  serve_shared_pointer(*file);
  TMPI_TRY(barrier(*file->comm));  // from now on the shared pointer may be moved
  opened = file.release();
  return kOk;
}

Err reopen_file(File& file, Comm& comm, const char* name) {
  const int amode = file.amode & ~(MPI_MODE_CREATE | MPI_MODE_EXCL);
  std::vector<Proposal> all;
  TMPI_TRY(gather_all(comm, Proposal{amode, sched::current_worker()}, all));
  TMPI_TRY(open_on_nodes(comm, name, amode, all, Striping{}, file.node));
  file.comm = &comm;
  file.comm->raised_on = &file.target;
  file.view = View::bytes();
  file.aggregators = choose_aggregators(*file.node, file.hints.cb_nodes);
  serve_shared_pointer(file);
  return barrier(comm);  // from now on the shared pointer may be moved
}

Err close_file(File& file) {
  settle(file);
  TMPI_TRY(barrier(*file.comm));
  stop_serving(file);
  int error = 0;
  if ((file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    if (file.comm->rank == 0) error = in_pool([&] { return unlink_open(file.node->fd()); });
    TMPI_TRY(from_first(*file.comm, &error));
  }
  const Err result = error == 0 ? kOk : file_failed_at(0, "deleting", file.path(), error);
  release(file.target.handler);
  file.magic = 0;
  file.comm->raised_on = nullptr;
  release(*file.comm);
  delete &file;
  return result;
}

Err delete_file(const char* name) {
  TMPI_TRY(check_name(name));
  name = without_file_system(name);
  const Directory directory(name);
  const int error = in_pool([&] { return unlinkat(directory.fd(), name, 0); });
  return error == 0 ? kOk : file_failed("deleting", name, error);
}

}  // namespace tmpi::mpi
