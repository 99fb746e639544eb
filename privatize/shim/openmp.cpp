// OpenMP by gcc (libgomp): where the master of a team waits for its threads, its rank is suspended, so that
// the other ranks of the worker run. libgomp itself sleeps there in the kernel, on the worker's thread; if
// one of its threads waited for a message from a rank of the same worker, nothing would go on any more. So
// the threads gather before they enter libgomp's barrier, its master the last of them, when nobody has to
// wait for anybody for long. The names below are those that gcc's code calls; libgomp's own versions follow
// behind the shim. docs/design/threads.md.
//
// Not covered: cancellable regions, `copyprivate`, `taskwait`, `ordered`, locks; other compilers' libraries.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "privatize/rank_callbacks.h"

namespace {

using Function = void (*)(void*);

// The threads of a team come to a place, and its master waits for the last of them.
struct Arrivals {
  std::atomic<unsigned> arrived{0};
  std::atomic<std::uintptr_t> last{0};  // tmpi_thread_event
};

struct Team {
  Function function;
  void* data;
  Arrivals barrier;
  Arrivals end;
};

// Of the region that the thread is in. Null: nobody suspends there.
thread_local Team* team = nullptr;

enum Name {
  kParallel,
  kLoopStatic,
  kLoopDynamic,
  kLoopGuided,
  kLoopRuntime,
  kLoopNonmonotonicDynamic,
  kLoopNonmonotonicGuided,
  kLoopNonmonotonicRuntime,
  kLoopMaybeNonmonotonicRuntime,
  kSections,
  kBarrier,
  kLoopEnd,
  kSectionsEnd,
  kNumThreads,
  kNames
};

const char* const kNameOf[kNames] = {
    "GOMP_parallel",
    "GOMP_parallel_loop_static",
    "GOMP_parallel_loop_dynamic",
    "GOMP_parallel_loop_guided",
    "GOMP_parallel_loop_runtime",
    "GOMP_parallel_loop_nonmonotonic_dynamic",
    "GOMP_parallel_loop_nonmonotonic_guided",
    "GOMP_parallel_loop_nonmonotonic_runtime",
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime",
    "GOMP_parallel_sections",
    "GOMP_barrier",
    "GOMP_loop_end",
    "GOMP_sections_end",
    "omp_get_num_threads",
};

std::atomic<void*> found[kNames];  // whoever comes first looks it up; relaxed: an address, nothing behind it

template <class Signature>
Signature* original(Name name) {
  void* address = found[name].load(std::memory_order_relaxed);
  if (address == nullptr) {
    address = dlsym(RTLD_NEXT, kNameOf[name]);
    found[name].store(address, std::memory_order_relaxed);
  }
  return reinterpret_cast<Signature*>(address);
}

void gather(Arrivals& arrivals) {
  const auto others = static_cast<unsigned>(original<int()>(kNumThreads)()) - 1;
  if (others == 0) return;
  if (tmpi_on_helper_thread() != 0) {
    // acq_rel: the master sees what the others have done. The last one's touch of `last` is its last.
    if (arrivals.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == others)
      tmpi_thread_event_happen(&arrivals.last);
    return;
  }
  tmpi_thread_event_wait(&arrivals.last, "an OpenMP barrier");
  // For the next time: the others are on their way into libgomp's barrier, which the master has not entered.
  arrivals.arrived.store(0, std::memory_order_relaxed);
  arrivals.last.store(0, std::memory_order_relaxed);
}

void run(void* opaque) {
  Team& mine = *static_cast<Team*>(opaque);
  Team* const outer = std::exchange(team, &mine);
  mine.function(mine.data);
  gather(mine.end);
  team = outer;
}

template <class... Arguments>
void region(Name name, Function function, void* data, Arguments... arguments) {
  auto* real = original<void(Function, void*, Arguments...)>(name);
  if (tmpi_may_suspend() != 0) {
    Team made{function, data, {}, {}};
    return real(&run, &made, arguments...);
  }
  // A region within one, opened by a thread: its master may sleep.
  Team* const outer = std::exchange(team, nullptr);
  real(function, data, arguments...);
  team = outer;
}

void barrier(Name name) {
  if (team != nullptr) gather(team->barrier);
  original<void()>(name)();
}

}  // namespace

extern "C" {

void GOMP_parallel(Function function, void* data, unsigned threads, unsigned flags) {
  region(kParallel, function, data, threads, flags);
}
void GOMP_parallel_sections(Function function, void* data, unsigned threads, unsigned count, unsigned flags) {
  region(kSections, function, data, threads, count, flags);
}

#define TMPI_LOOP(suffix, name)                                                                           \
  void GOMP_parallel_loop_##suffix(Function function, void* data, unsigned threads, long start, long end, \
                                   long step, long chunk, unsigned flags) {                               \
    region(name, function, data, threads, start, end, step, chunk, flags);                                \
  }
TMPI_LOOP(static, kLoopStatic)
TMPI_LOOP(dynamic, kLoopDynamic)
TMPI_LOOP(guided, kLoopGuided)
TMPI_LOOP(nonmonotonic_dynamic, kLoopNonmonotonicDynamic)
TMPI_LOOP(nonmonotonic_guided, kLoopNonmonotonicGuided)
#undef TMPI_LOOP

#define TMPI_LOOP(suffix, name)                                                                           \
  void GOMP_parallel_loop_##suffix(Function function, void* data, unsigned threads, long start, long end, \
                                   long step, unsigned flags) {                                           \
    region(name, function, data, threads, start, end, step, flags);                                       \
  }
TMPI_LOOP(runtime, kLoopRuntime)
TMPI_LOOP(nonmonotonic_runtime, kLoopNonmonotonicRuntime)
TMPI_LOOP(maybe_nonmonotonic_runtime, kLoopMaybeNonmonotonicRuntime)
#undef TMPI_LOOP

void GOMP_barrier() {
  barrier(kBarrier);
}
void GOMP_loop_end() {
  barrier(kLoopEnd);
}
void GOMP_sections_end() {
  barrier(kSectionsEnd);
}

}  // extern "C"
