// One-sided operations, also those with requests. MPI report, 12.3.
#include "mpi/api/counted/counted.hpp"
#include "mpi/api/rma_calls.hpp"
#include "mpi/rma/word.hpp"

namespace tmpi::mpi {
namespace {

struct Origin {
  const void* address;
  MPI_Count count;
  MPI_Datatype type;
};
struct Target {
  int rank;
  MPI_Aint disp;
  MPI_Count count;
  MPI_Datatype type;
};

Err check_both(const Window& w, const Origin& origin, const Target& target, Data& data, Spot& spot) {
  TMPI_TRY(check_data(origin.address, origin.count, origin.type, data));
  return check_spot(w, target.rank, target.disp, target.count, target.type, spot);
}

Err do_put(Window& w, const Origin& origin, const Target& target, Request* request) {
  Data data;
  Spot spot;
  TMPI_TRY(check_both(w, origin, target, data, spot));
  return put(w, data, spot, request);
}

Err do_get(Window& w, const Origin& origin, const Target& target, Request* request) {
  Data data;
  Spot spot;
  TMPI_TRY(check_both(w, origin, target, data, spot));
  return get(w, data, spot, request);
}

inline Err do_accumulate(Window& w, const Origin& origin, const Target& target, MPI_Op handle,
                         Request* request) {
  Data data;
  Spot spot;
  const Op* op;
  TMPI_TRY(check_both(w, origin, target, data, spot));
  TMPI_TRY(check_operator(handle, op));
  return accumulate(w, *op, data, spot, request);
}

inline Err do_get_accumulate(Window& w, const Origin& origin, const Origin& result, const Target& target,
                             MPI_Op handle, Request* request) {
  Data data, back;
  Spot spot;
  const Op* op;
  TMPI_TRY(check_operator(handle, op));
  // With MPI_NO_OP the origin's arguments are ignored.
  if (op->which != Operator::kNoOp) TMPI_TRY(check_data(origin.address, origin.count, origin.type, data));
  TMPI_TRY(check_data(result.address, result.count, result.type, back));
  TMPI_TRY(check_spot(w, target.rank, target.disp, target.count, target.type, spot));
  return get_accumulate(w, *op, data, back, spot, request);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

// What is no run of a few bytes, and what is refused; out of the way of those. A parameter for each argument lets the
// call be a jump.
[[gnu::noinline]] static int put_any(const void* origin_addr, Count origin_count,
                                     MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                     Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  return on_operation(TMPI_COUNTED_NAME(Put), win, [&](Window& w) {
    return do_put(w, {origin_addr, origin_count, origin_datatype},
                  {target_rank, target_disp, target_count, target_datatype}, nullptr);
  });
}

int TMPI_COUNTED(Put)(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype,
                      MPI_Win win) {
  Window* const w = window_at_hand(win);
  if (w != nullptr && within_turn(*w) &&
      put_run(*w, origin_addr, {origin_count, origin_datatype}, target_rank, target_disp,
              {target_count, target_datatype})) [[likely]]
    return MPI_SUCCESS;
  return put_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                 target_datatype, win);
}
TMPI_COUNTED_PROFILED(Put);

int TMPI_COUNTED(Rput)(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype,
                       int target_rank, MPI_Aint target_disp, Count target_count,
                       MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  return on_win_request(TMPI_COUNTED_NAME(Rput), win, target_rank, request, [&](Window& w, Request* r) {
    return do_put(w, {origin_addr, origin_count, origin_datatype},
                  {target_rank, target_disp, target_count, target_datatype}, r);
  });
}
TMPI_COUNTED_PROFILED(Rput);

[[gnu::noinline]] static int get_any(void* origin_addr, Count origin_count, MPI_Datatype origin_datatype,
                                     int target_rank, MPI_Aint target_disp, Count target_count,
                                     MPI_Datatype target_datatype, MPI_Win win) {
  return on_operation(TMPI_COUNTED_NAME(Get), win, [&](Window& w) {
    return do_get(w, {origin_addr, origin_count, origin_datatype},
                  {target_rank, target_disp, target_count, target_datatype}, nullptr);
  });
}

int TMPI_COUNTED(Get)(void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  Window* const w = window_at_hand(win);
  if (w != nullptr && within_turn(*w) &&
      get_run(*w, origin_addr, {origin_count, origin_datatype}, target_rank, target_disp,
              {target_count, target_datatype})) [[likely]]
    return MPI_SUCCESS;
  return get_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                 target_datatype, win);
}
TMPI_COUNTED_PROFILED(Get);

int TMPI_COUNTED(Rget)(void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                       MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Win win,
                       MPI_Request* request) {
  return on_win_request(TMPI_COUNTED_NAME(Rget), win, target_rank, request, [&](Window& w, Request* r) {
    return do_get(w, {origin_addr, origin_count, origin_datatype},
                  {target_rank, target_disp, target_count, target_datatype}, r);
  });
}
TMPI_COUNTED_PROFILED(Rget);

[[gnu::noinline]] static int accumulate_any(const void* origin_addr, Count origin_count,
                                            MPI_Datatype origin_datatype, int target_rank,
                                            MPI_Aint target_disp, Count target_count,
                                            MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return on_operation(TMPI_COUNTED_NAME(Accumulate), win, [&](Window& w) {
    return do_accumulate(w, {origin_addr, origin_count, origin_datatype},
                         {target_rank, target_disp, target_count, target_datatype}, op, nullptr);
  });
}

int TMPI_COUNTED(Accumulate)(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype,
                             int target_rank, MPI_Aint target_disp, Count target_count,
                             MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  const bool one = origin_count == 1 && target_count == 1 && origin_datatype == target_datatype;
  Window* const w = one ? window_at_hand(win) : nullptr;
  if (w != nullptr && within_turn(*w) &&
      combine_element(*w, op, origin_addr, nullptr, origin_datatype, target_rank, target_disp)) [[likely]]
    return MPI_SUCCESS;
  return accumulate_any(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                        target_datatype, op, win);
}
TMPI_COUNTED_PROFILED(Accumulate);

int TMPI_COUNTED(Raccumulate)(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype,
                              int target_rank, MPI_Aint target_disp, Count target_count,
                              MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  return on_win_request(
      TMPI_COUNTED_NAME(Raccumulate), win, target_rank, request, [&](Window& w, Request* r) {
        return do_accumulate(w, {origin_addr, origin_count, origin_datatype},
                             {target_rank, target_disp, target_count, target_datatype}, op, r);
      });
}
TMPI_COUNTED_PROFILED(Raccumulate);

int TMPI_COUNTED(Get_accumulate)(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype,
                                 void* result_addr, Count result_count, MPI_Datatype result_datatype,
                                 int target_rank, MPI_Aint target_disp, Count target_count,
                                 MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return on_operation(TMPI_COUNTED_NAME(Get_accumulate), win, [&](Window& w) {
    return do_get_accumulate(w, {origin_addr, origin_count, origin_datatype},
                             {result_addr, result_count, result_datatype},
                             {target_rank, target_disp, target_count, target_datatype}, op, nullptr);
  });
}
TMPI_COUNTED_PROFILED(Get_accumulate);

int TMPI_COUNTED(Rget_accumulate)(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype,
                                  void* result_addr, Count result_count, MPI_Datatype result_datatype,
                                  int target_rank, MPI_Aint target_disp, Count target_count,
                                  MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                                  MPI_Request* request) {
  return on_win_request(
      TMPI_COUNTED_NAME(Rget_accumulate), win, target_rank, request, [&](Window& w, Request* r) {
        return do_get_accumulate(w, {origin_addr, origin_count, origin_datatype},
                                 {result_addr, result_count, result_datatype},
                                 {target_rank, target_disp, target_count, target_datatype}, op, r);
      });
}
TMPI_COUNTED_PROFILED(Rget_accumulate);
