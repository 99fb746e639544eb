// The rank-image loader: maps one program once per rank, each rank with its own writable data.
// docs/design/privatization.md explains how. Used by src/launch; told of a rank's switch by sched's switch hook.
// Nothing here knows of MPI. Never suspends a fiber.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "privatize/ownership.hpp"

namespace tmpi::privatize {

struct GroupOptions {
  std::string program;               ///< path as execvp would find it, already resolved by the launcher
  int images = 1;                    ///< images that will be mapped, at most (reserves address space)
  std::string shim;                  ///< path of libtmpi-shim.so
  std::vector<std::string> preload;  ///< libraries that are searched next after the program (preload.hpp)
  std::vector<std::string> needed;   ///< libraries that the program needs besides those that it names
  LibraryChoices libraries;
  std::string stands_for;  ///< what /proc/self/exe leads to for its ranks; empty: `program`
};

/// Whether the file can be GroupOptions::program, as far as it alone says so.
bool is_rank_program(const std::string& path);

/// Functions that images bind to instead of the node process's own of the same name: `substitute(name)`,
/// unless it is null. A definition in the image itself comes first. Before any Group is loaded.
void substitute_functions(const void* (*substitute)(const char* name)) noexcept;

/// The program with the shim and its own shared libraries, parsed and bound once. Several groups exist under
/// MPMD.
class Group {
 public:
  /// Parses, resolves every symbol, builds the template. Failure sentences: not built for tmpi (and how to
  /// rebuild), missing library, all undefined symbols at once, text relocations, non-PIE, TLS in a plain PIE,
  /// too many mappings for `images`.
  static Result<std::unique_ptr<Group>> load(const GroupOptions& options);
  virtual ~Group() = default;
  /// Sentences for -v: what of another MPI the program would have found, and what stands in for it.
  virtual std::vector<std::string> replacements() const = 0;
  virtual bool needs_exec_stack() const = 0;
  /// True if the program or one of its own libraries refers to a symbol of this name that it does not define
  /// itself. What it finds later by dlopen and dlsym is not known here.
  virtual bool refers_to(std::string_view symbol) const = 0;
  /// The same of the program itself, without its libraries.
  virtual bool main_refers_to(std::string_view symbol) const = 0;
  /// The same of the program and of those of its libraries that the user has made, or installed apart from the system's.
  virtual bool own_code_refers_to(std::string_view symbol) const = 0;

  /// Maps image number `index` (0 <= index < images; where ranks have slots, index == rank) for world rank `rank`. Any
  /// thread; different indices may run in parallel.
  virtual Result<void> map_image(int index, int rank) = 0;

  /// Runs constructors, then main(argc, argv, envp) of the image, then what exit(3) runs, on the calling
  /// fiber; main's result is returned through tmpi_rank_exited (rank_callbacks.h), so this does not return.
  /// `environment`: "NAME=value" lines of the launcher for this rank, put over the process's environment; copied to
  /// the fiber's stack and freed before the program runs.
  [[noreturn]] virtual void run_image(int index, const std::vector<std::string>& arguments,
                                      std::vector<std::string> environment) = 0;
};

/// Where the stack of the rank's own flow of control lies: [stack, stack + bytes). What the program asks about its stack
/// is answered by that. After map_image().
void tell_stack(int rank, void* stack, std::size_t bytes) noexcept;

/// Image the code or data address belongs to: its world rank and the symbol there, for crash reports.
/// Async-signal-safe, no malloc.
struct ImageAddress {
  int rank = -1;                 ///< -1: in no image
  const char* object = nullptr;  ///< file name of the ELF object
  std::size_t offset = 0;        ///< address in that file
  const char* symbol =
      nullptr;  ///< nearest function symbol below (from .symtab if there is one, else .dynsym), or null
  std::size_t symbol_offset = 0;
};
ImageAddress describe_address(const void* address) noexcept;

/// Tells the loader that the calling thread (a worker) now runs world rank `rank`'s fiber, -1 for none.
/// Constant time, no system call.
void set_running_rank(int rank) noexcept;

/// World rank of the calling thread: a worker's running rank, or the rank that created this helper thread; -1
/// if none.
int running_rank() noexcept;

/// True in the child of a fork(2) that a rank made: it must end with _exit and never schedule ranks.
bool in_forked_child() noexcept;

}  // namespace tmpi::privatize
