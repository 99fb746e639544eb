// What the MPI library asks of the program that hosts it (tmpi-node, or libtmpi.so's bootstrap for a program
// started by itself). Registered once before any rank runs; the MPI library never calls up otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tmpi::mpi {

struct Rank;

struct StartInfo {
  /// MPI_INFO_ENV's keys and values: command, argv, maxprocs, soft, wdir (MPI report, 11.5.3).
  std::vector<std::pair<std::string, std::string>> entries;
  /// The rank's program among those of the command line, counted from 0 (MPI_APPNUM); -1: there was none.
  int app_number = -1;
};

/// One command of MPI_Comm_spawn_multiple; empty: not given.
struct SpawnCommand {
  std::string command;
  std::vector<std::string> arguments;  ///< without argv[0]
  int ranks = 0;
  // Of its info object (MPI report, 11.8.4).
  std::string wdir;
  std::string path;  ///< directories, separated by colons
  std::string host;  ///< names, separated by commas
};

struct SpawnOrder {
  std::vector<SpawnCommand> commands;
  std::string link;  ///< what the node processes of the new ranks make a World of: pack_link() (spawned.hpp)
};

struct SpawnOutcome {
  int first = -1;  ///< number in the job of the new world's rank 0; -1: nothing has been started
  /// Why not: index of the command, -1 for all of them, and a sentence.
  std::vector<std::pair<int, std::string>> problems;
};

/// What a rank asks of those who know the job's ports and published names (MPI report, 11.9).
struct PortCall {
  enum class Kind : unsigned char {
    kOpen,
    kClose,
    kPublish,
    kUnpublish,
    kLookup,
    kAccept,
    kConnect,
    kWithdraw,  ///< the node process's: the call with this number need not wait any longer
    kOwner,     ///< who has opened the port?
    kLeave,     ///< the rank uses MPI no more: its ports and names go
  };
  Kind kind = Kind::kOpen;
  std::string port;
  std::string name;    ///< that is published
  double timeout = 0;  ///< kAccept, kConnect: seconds to wait for the other end; 0: for ever
  bool wide = true;    ///< kOpen, kPublish: for the user's other jobs, too; kLookup: theirs, too
};

struct PortAnswer {
  int error = 0;             ///< an MPI error class; MPI_SUCCESS
  std::string why;           ///< a sentence
  std::string port;          ///< kOpen, kLookup
  int peer = -1;             ///< number in the job: kAccept, kConnect: of the rank at the other end; kOwner
  int node = -1;             ///< of a peer of another job: where it lives there (OtherJob::learn)
  bool outside = false;      ///< of a wait: who comes may be of another job
  std::int64_t pairing = 0;  ///< kAccept, kConnect: of these two, and of nobody else in the job
};

/// A checkpoint that is being written: its number is its own, and larger than those before.
struct CheckpointPlace {
  const std::string& directory;  ///< empty: the memory of the hosts
  std::uint64_t number;
};

/// Checkpoints in the memory of the hosts, each of which has the files of its ranks, and copies of others'.
struct MemoryCallbacks {
  int copies;  ///< of each, on other node processes
  /// Where the file of a rank is to lie on this node process; where it lies on this host, empty: nowhere.
  std::string (*file)(std::uint64_t number, int rank);
  std::string (*find)(std::uint64_t number, int rank);
  /// Of which there are files on this host, the latest first.
  std::vector<std::uint64_t> (*numbers)();
};

/// How ranks of this job are saved (mpi/save): what is not MPI's. All on the rank's own fiber; a sentence says what is in
/// the way, empty: nothing.
struct SavingCallbacks {
  /// The end of a sentence that begins with "it".
  std::string (*why_not)(const Rank& rank);
  /// The calling rank's own aligned_alloc and free: memory that the program gets (MPI_Alloc_mem) is saved with its own.
  void* (*allocate)(std::size_t alignment, std::size_t bytes) noexcept;
  void (*release)(void* memory) noexcept;
  /// Before and after all ranks write, by the first of them; in the memory of the hosts by the first of each node process.
  /// `complete`: all have, and what they have written is in force now.
  std::string (*begin)(const CheckpointPlace& place);
  std::string (*end)(const CheckpointPlace& place, bool complete);
  /// Writes the rank as it will be when its call of MPI returns, with its stack from `stack` on. `state`: of MPI's.
  std::string (*write)(const Rank& rank, const CheckpointPlace& place, const void* stack,
                       std::span<const std::byte> state);
  const MemoryCallbacks* memory;  ///< null: none are kept there
};

struct Callbacks {
  /// Ends the whole job at once with exit code `code` (MPI_Abort, a fatal MPI error); `text` is the one
  /// message the user sees, empty if it has been printed. Allocates nothing, does not return. Who composes
  /// the text calls end_job() (endings.hpp).
  void (*abort_job)(Rank& rank, int code, std::string_view text);

  /// Ends the whole job at once, since there is no memory for `what`. Allocates nothing, does not return. Any
  /// thread of the node process. Null: nothing but this process is to be ended.
  void (*out_of_memory)(const char* what) noexcept;

  /// The rank has come through MPI_Init / MPI_Finalize: from now on (until then) leaving the program ends the
  /// job.
  void (*initialized)(Rank& rank);
  void (*finalized)(Rank& rank);

  /// A program started by itself calls MPI_Init: create the job of one rank and make the calling flow its
  /// task. Null in tmpi-node.
  void (*start_singleton)();

  /// The rank that has created the calling thread, which is no worker's; null if none has. Any thread. Null:
  /// ranks have no threads.
  Rank* (*rank_of_thread)() noexcept;

  /// Something worth knowing for who runs the job with -v. Any thread; null: nobody to tell.
  void (*inform)(const std::string& text);

  /// Starts ranks that `root` asks for. On its fiber; SUSPENDS until they are there. Null: cannot be done.
  SpawnOutcome (*spawn)(const Rank& root, const SpawnOrder& order);

  /// Opens a port, looks a name up, finds the other end of a connection ... for `rank`. On its fiber; SUSPENDS. Null:
  /// cannot be done.
  PortAnswer (*ports)(const Rank& rank, const PortCall& call);

  /// MPI_UNIVERSE_SIZE: ranks that have room on the job's cores. Null: as many as it began with.
  int (*universe_size)();

  /// Null: ranks of this job cannot be saved.
  const SavingCallbacks* saving;

  /// How a rank was started. Null: nothing is known.
  StartInfo (*start_info)(const Rank& rank);
};

void register_callbacks(const Callbacks& callbacks);
const Callbacks& callbacks() noexcept;

}  // namespace tmpi::mpi
