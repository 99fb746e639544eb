// pthread_atfork: handlers that a rank has registered run when that rank forks, and no other's do. libc knows one set of
// handlers for the process, ours, which calls those of the rank that forks.
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <new>

#include "privatize/loader.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/shim/host/host_functions.h"

namespace tmpi::shim {
namespace {

/// Never freed: a few words, and who goes through them takes no lock.
struct Handlers {
  void (*prepare)();
  void (*parent)();
  void (*child)();
  Handlers* earlier;
};
privatize::RankTable<std::atomic<Handlers*>> table;  // the last registered; release by who adds one, acquire

Handlers* of_running_rank() noexcept {
  std::atomic<Handlers*>* const last = table.find(privatize::running_rank());
  return last == nullptr ? nullptr : last->load(std::memory_order_acquire);
}

/// In the order in which they were registered.
void run_from_first(Handlers* last, void (*Handlers::*which)()) noexcept {
  if (last == nullptr) return;
  run_from_first(last->earlier, which);
  if (last->*which != nullptr) (last->*which)();
}

void prepare() noexcept {
  for (const Handlers* one = of_running_rank(); one != nullptr; one = one->earlier) {
    if (one->prepare != nullptr) one->prepare();
  }
}

}  // namespace
}  // namespace tmpi::shim

using namespace tmpi::shim;

extern "C" int tmpi_shim_atfork(int rank, void (*prepare_function)(void), void (*parent)(void),
                                void (*child)(void)) {
  static const int error = pthread_atfork(
      &prepare, [] { run_from_first(of_running_rank(), &Handlers::parent); },
      [] { run_from_first(of_running_rank(), &Handlers::child); });
  std::atomic<Handlers*>* const last = table.get(rank);
  if (error != 0 || last == nullptr) return ENOMEM;
  auto* const added = new (std::nothrow) Handlers{prepare_function, parent, child, nullptr};
  if (added == nullptr) return ENOMEM;
  added->earlier = last->load(std::memory_order_acquire);
  while (!last->compare_exchange_weak(added->earlier, added, std::memory_order_acq_rel)) {
  }
  return 0;
}
