// Variables: the table of all performance variables (MPI report, 15.3.7). What MPI_T_pvar_get_info says, what a handle
// reads, what --profile writes into its JSON, and the table in docs/reference/tools-interface.md come from here. The same for all
// ranks of a job.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "mpi/rank/rank.hpp"
#include "mpi/tool/categories.hpp"
#include "mpi/tool/enumeration.hpp"

namespace tmpi::mpi::tool {

struct CommTraffic;

/// What a variable has one value of.
enum class Extent : unsigned char {
  kRank,     ///< the rank
  kWorkers,  ///< each worker of the rank's node process
  kRanks,    ///< each rank of the rank's node process, in ascending order
  kPeers,  ///< each process of the communicator that the handle is bound to (of an intercommunicator the remote group)
  kProcess,  ///< the rank's node process
};

/// What has to be switched on for it.
enum class Needs : unsigned char { kNothing, kMessages, kSwitches };

enum class Unit : unsigned char { kNumber, kTicks, kNanoseconds };

/// Whom a value is read for.
struct Subject {
  Rank& rank;
  const CommTraffic* traffic = nullptr;  ///< Extent::kPeers
};

/// Reads all values, one for each element. Any thread.
using ReadValues = void (*)(const Subject& subject, std::span<std::uint64_t> values);

struct Variable {
  const char* name;
  int kind;  ///< MPI_T_PVAR_CLASS_COUNTER and so on
  int verbosity;
  Category category;
  Extent extent;
  Needs needs;
  Unit unit;
  ReadValues read;
  /// Of a high-water mark that can begin anew: lets it. Null: it cannot.
  void (*restart)(Rank& rank);
  const char* description;

  /// Has a value at any time, and is neither started nor stopped, set or reset: what a moment shows.
  bool continuous() const noexcept;
  /// Its values are sums, of which a handle shows the part since it was started.
  bool sums() const noexcept;
  int bind() const noexcept { return extent == Extent::kPeers ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT; }
  /// MPI_DOUBLE (seconds), MPI_UNSIGNED_LONG_LONG, or MPI_INT for a state.
  MPI_Datatype type() const noexcept;
  const Enumeration* enumeration() const;
};

std::span<const Variable> variables() noexcept;
/// -1: there is none of this name and class.
int find_variable(std::string_view name, int kind) noexcept;

/// Number of values.
int count_of(const Variable& variable, const Subject& subject) noexcept;

/// Values to a buffer of the variable's type, and back.
void store(const Variable& variable, std::span<const std::uint64_t> values, void* buffer) noexcept;
void load(const Variable& variable, const void* buffer, std::span<std::uint64_t> values) noexcept;
/// One of them in seconds, of a variable with type MPI_DOUBLE.
double seconds_of(const Variable& variable, std::uint64_t value) noexcept;

}  // namespace tmpi::mpi::tool
