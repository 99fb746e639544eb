// TBB: its market of threads and the limits set on it are the process's.
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <functional>

#include "steps.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const int threads = 1 + world_rank % 3;
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  tbb::enumerable_thread_specific<long> calls(0L);
  double sum = 0;
  for (int round = 1; round <= 5; round++) {
    next_step();
    CHECK_EQ(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism), threads);
    sum = tbb::parallel_reduce(
        tbb::blocked_range<int>(0, 20000), 0.0,
        [](const tbb::blocked_range<int>& range, double part) {
          for (int i = range.begin(); i != range.end(); i++) part += i * (1 + world_rank);
          return part;
        },
        std::plus<double>());
    CHECK_NEAR(sum, 19999.0 * 10000 * (1 + world_rank), 0);
    next_step();
    tbb::task_arena arena(threads);
    arena.execute([&] { tbb::parallel_for(0, 500, [&](int) { calls.local()++; }); });
    CHECK_EQ(calls.combine(std::plus<long>()), 500L * round);
  }
  return end_with(sum);
}
