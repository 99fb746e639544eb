// Controls: the table of all control variables (MPI report, 15.3.6): tmpirun's options as the job was started with them,
// what the job consists of and its limits, and which algorithm carries out a collective on a communicator, which can be
// changed. The same for all ranks of a job.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/coll/args.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/tool/categories.hpp"
#include "mpi/tool/enumeration.hpp"

namespace tmpi::mpi::tool {

/// An option of who has started the job.
struct Setting {
  std::string name;   ///< "--eager-limit"
  std::string value;  ///< as it was given, empty: it was not
  std::string help;
};
/// Before any rank runs.
void register_settings(std::vector<Setting> settings);

struct Control {
  std::string name;
  std::string description;
  int verbosity = MPI_T_VERBOSITY_USER_DETAIL;
  int scope = MPI_T_SCOPE_CONSTANT;
  Category category = Category::kLimits;
  MPI_Datatype type = MPI_UNSIGNED_LONG_LONG;
  const Enumeration* enumeration = nullptr;
  std::string text;                     ///< of type MPI_CHAR: the value
  std::uint64_t (*number)() = nullptr;  ///< of type MPI_UNSIGNED_LONG_LONG; null: `fixed` is it
  std::uint64_t fixed = 0;
  Collective collective = Collective::kBarrier;  ///< of type MPI_INT: it is the choice for this one

  bool is_choice() const noexcept { return type == MPI_INT; }
  int bind() const noexcept { return is_choice() ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT; }
  /// Number of elements of `type`.
  int count() const noexcept { return type == MPI_CHAR ? static_cast<int>(text.size()) + 1 : 1; }
};

/// Made by the first call, when the job has been set up.
std::span<const Control> controls();
/// -1: there is none.
int find_control(std::string_view name);

/// A value to a buffer for count() elements. `comm`: of a choice.
void read_control(const Control& control, const Comm* comm, void* buffer);
/// Of a choice: an error class, MPI_SUCCESS.
int write_choice(const Control& control, Comm& comm, int value);

}  // namespace tmpi::mpi::tool
