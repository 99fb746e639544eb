#include "privatize/shim/process.hpp"

#include <unistd.h>

namespace tmpi::shim {
namespace {

pid_t rank_process;
const void* rank_thread;
thread_local char
    thread_mark;  // only its address counts: the rank's thread-local block, or the helper thread's

}  // namespace

bool in_forked_child() noexcept {
  return getpid() != rank_process;
}

__attribute__((noinline)) const void* this_thread() noexcept {
  return &thread_mark;
}

bool on_rank_thread() noexcept {
  return this_thread() == rank_thread;
}

void remember_process() noexcept {
  rank_process = getpid();
  rank_thread = this_thread();
}

}  // namespace tmpi::shim
