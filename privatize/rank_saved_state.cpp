#include "privatize/rank_saved_state.hpp"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "privatize/children.hpp"
#include "privatize/live_threads.hpp"
#include "privatize/packed_state.hpp"
#include "privatize/pthread_keys.hpp"
#include "privatize/rank_directory.hpp"
#include "privatize/rank_slots.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/saved_descriptors.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/rank_timers.hpp"

namespace tmpi::privatize {
namespace {

constexpr int kSignals = 64;

std::string directory_now() {
  std::array<char, PATH_MAX> path{};
  return getcwd(path.data(), path.size()) != nullptr ? path.data() : "";
}

int action_of(int rank, int signal, const struct sigaction* set, struct sigaction* now) noexcept {
  return tmpi_shim_is_fault(signal) != 0 ? tmpi_shim_fault_action(rank, signal, set, now)
                                         : tmpi_shim_signal_action(rank, signal, set, now);
}

bool can_be_set(int signal) noexcept {
  return signal != SIGKILL && signal != SIGSTOP && tmpi_shim_is_shared_signal(signal) == 0;
}

}  // namespace

std::string why_not_saved(int rank) {
  const RankState& state = *rank_state(rank);
  if (state.set->needs_thread_pointer())
    return "runs with a thread pointer of its own, since a plain compiler has linked it (tmpirun "
           "--show-libraries says "
           "so); link it with tmpicc";
  if (state.set->has_static_tls())
    return "has thread-local variables at a place that belongs to its worker's thread (OpenMP's libgomp has "
           "such)";
  if (state.opened.begin() != state.opened.end()) return "has opened libraries with dlopen";
  if (has_live_threads(rank)) return "has threads that have not ended";
  if (has_children(rank)) return "has child processes that it has not waited for";
  if (shim::has_timers(rank)) return "has timers (setitimer, timer_create)";
  if (RankSlots::get()->has_outside(rank))
    return "has memory outside of its addresses (shmat, sem_open, or mmap with MAP_FIXED)";
  if (const std::string why = why_descriptors_not_saved(rank); !why.empty()) return why;
  using WhyNot = const char* (*)();
  const auto of_shim =
      reinterpret_cast<WhyNot>(const_cast<void*>(function_of(rank, "tmpi_shim_why_not_saved")));
  const char* const why = of_shim();
  return why != nullptr ? why : "";
}

std::vector<std::byte> saved_state(int rank) {
  RankState& state = *rank_state(rank);
  StateWriter to;
  to.value(state.argc);
  to.value(state.argv);
  to.text(directory_now());
  to.text(tmpi_shim_setlocale(rank, LC_ALL, nullptr));
  for (int signal = 1; signal <= kSignals; ++signal) {
    struct sigaction action {};
    if (!can_be_set(signal) || action_of(rank, signal, nullptr, &action) != 0 || action.sa_handler == SIG_DFL)
      continue;
    to.value(signal);
    to.value(action);
  }
  to.value(0);
  to.value(state.keys.size());
  for (const KeyDefinition& key : state.keys) to.value(key);
  to.text(own_key_values(state));
  save_descriptors(rank, to);
  return std::move(to.bytes);
}

Result<void> take_saved_state(int rank, std::span<const std::byte> bytes) {
  RankState& state = *rank_state(rank);
  StateReader from(bytes);
  state.argc = from.value<int>();
  state.argv = from.value<char**>();
  if (const std::string directory = from.text();
      directory != directory_now() && !choose_directory(rank, directory.c_str()))
    return Failure{"its working directory " + directory + ": " + std::strerror(errno)};
  if (const std::string locale = from.text();
      locale != "C" && tmpi_shim_setlocale(rank, LC_ALL, locale.c_str()) == nullptr)
    return Failure{"its locale " + locale + " is not here"};
  while (const int signal = from.value<int>()) {
    const auto action = from.value<struct sigaction>();
    static_cast<void>(action_of(rank, signal, &action, nullptr));
  }
  state.keys.resize(std::min<std::size_t>(from.value<std::size_t>(), PTHREAD_KEYS_MAX));
  for (KeyDefinition& key : state.keys) key = from.value<KeyDefinition>();
  set_own_key_values(state, from.text());
  if (const Result<void> opened = open_descriptors_again(rank, from); !opened) return opened;
  reinterpret_cast<void (*)()>(const_cast<void*>(function_of(rank, "tmpi_shim_go_on")))();
  return {};
}

const void* function_of(int rank, const char* name) noexcept {
  const RankState& state = *rank_state(rank);
  for (const auto& object : state.set->objects()) {
    const Elf64_Sym* const symbol = object->file->symbols().find({name, nullptr});
    if (symbol != nullptr && object->file->in_memory(symbol->st_value, 1, PF_X))
      return reinterpret_cast<const void*>(state.set->base(state.index) + object->at(symbol->st_value));
  }
  return nullptr;
}

}  // namespace tmpi::privatize
