// One-sided operations on single elements. MPI report, 12.3.4.
#include "mpi/api/profiled.hpp"
#include "mpi/api/rma_calls.hpp"
#include "mpi/rma/word.hpp"

namespace tmpi::mpi {
namespace {

Err check_element(const Window& window, MPI_Datatype handle, int rank, MPI_Aint disp, Spot& spot) {
  TMPI_TRY(check_spot(window, rank, disp, 1, handle, spot));
  if (spot.type->predefined()) [[likely]]
    return kOk;
  return fail(MPI_ERR_TYPE,
              "the datatype is a derived one: this operation is on one element of a predefined type");
}

Err check_comparable(const Datatype& type) {
  if (comparable(type.group())) return kOk;
  return fail(
      MPI_ERR_TYPE,
      "the datatype is {}: MPI_Compare_and_swap accepts C and Fortran integer, logical and byte types, "
      "MPI_AINT, MPI_OFFSET and MPI_COUNT",
      type.name());
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

// What is no word, and what is refused; out of the way of those. A parameter for each argument lets the call be a jump.
[[gnu::noinline]] static int fetch_any(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                                       int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  return on_operation("MPI_Fetch_and_op", win, [&](Window& w) -> Err {
    Spot spot;
    const Op* known;
    TMPI_TRY(check_element(w, datatype, target_rank, target_disp, spot));
    TMPI_TRY(check_operator(op, known));
    if (known->which != Operator::kNoOp) TMPI_TRY(check_pointer(origin_addr, "origin_addr"));
    TMPI_TRY(check_pointer(result_addr, "result_addr"));
    return fetch_and_op(w, *known, origin_addr, result_addr, spot);
  });
}

int PMPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  Window* const w = window_at_hand(win);
  if (w != nullptr && result_addr != nullptr && within_turn(*w) &&
      combine_element(*w, op, origin_addr, result_addr, datatype, target_rank, target_disp)) [[likely]]
    return MPI_SUCCESS;
  return fetch_any(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}
TMPI_PROFILED(MPI_Fetch_and_op);

[[gnu::noinline]] static int compare_any(const void* origin_addr, const void* compare_addr, void* result_addr,
                                         MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
                                         MPI_Win win) {
  return on_operation("MPI_Compare_and_swap", win, [&](Window& w) -> Err {
    Spot spot;
    TMPI_TRY(check_element(w, datatype, target_rank, target_disp, spot));
    TMPI_TRY(check_comparable(*spot.type));
    TMPI_TRY(check_pointer(origin_addr, "origin_addr"));
    TMPI_TRY(check_pointer(compare_addr, "compare_addr"));
    TMPI_TRY(check_pointer(result_addr, "result_addr"));
    return compare_and_swap(w, origin_addr, compare_addr, result_addr, spot);
  });
}

int PMPI_Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win) {
  Window* const w = window_at_hand(win);
  if (w != nullptr && within_turn(*w) &&
      compare_and_swap_word(*w, origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp))
      [[likely]]
    return MPI_SUCCESS;
  return compare_any(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
}
TMPI_PROFILED(MPI_Compare_and_swap);
