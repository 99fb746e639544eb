// std::set_terminate per rank. libstdc++ keeps one handler per process and calls it when nobody catches an
// exception; ours asks which rank is running.
#include <cxxabi.h>
#include <stdio.h>
#include <stdlib.h>

#include <exception>
#include <mutex>
#include <string>
#include <typeinfo>

#include "privatize/loader.hpp"
#include "privatize/rank_callbacks.h"
#include "privatize/rank_table.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/thrower.hpp"

namespace tmpi::shim {
namespace {

privatize::RankTable<TmpiTerminateHandler> handlers;
std::terminate_handler process_handler;
std::once_flag once;

/// The text that libstdc++ prints, for the exception being handled on this thread.
std::string reason() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "terminate called without an active exception\n";
  int status = 0;
  char* readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string text = std::string("terminate called after throwing an instance of '") +
                     (status == 0 ? readable : type->name()) + "'\n";
  free(readable);
  try {
    throw;
  } catch (const std::exception& e) {
    text += std::string("  what():  ") + e.what() + "\n";
  } catch (...) {
    // Only std::exception can say what it is.
  }
  return text;
}

/// The handler of a rank that set none.
void say_why_and_abort() {
  const std::string text = reason();
  tmpi_rank_write(privatize::running_rank(), 2, text.data(), text.size());
  abort();  // SIGABRT: the node process's report adds the backtrace
}

TmpiTerminateHandler handler_of(int rank) {
  const TmpiTerminateHandler* slot = handlers.find(rank);
  return slot != nullptr && *slot != nullptr ? *slot : &say_why_and_abort;
}

/// What the process had before: it knows what to say of tmpi's own failures.
void terminate() {
  const int rank = privatize::running_rank();
  (rank < 0 || privatize::thrown_by_tmpi() ? process_handler : handler_of(rank))();
}

}  // namespace

}  // namespace tmpi::shim

using namespace tmpi::shim;

extern "C" TmpiTerminateHandler tmpi_shim_set_terminate(int rank, TmpiTerminateHandler handler) {
  TmpiTerminateHandler* slot = handlers.get(rank);
  const TmpiTerminateHandler previous = handler_of(rank);
  if (slot != nullptr) *slot = handler;
  return previous;
}

extern "C" TmpiTerminateHandler tmpi_shim_get_terminate(int rank) {
  return handler_of(rank);
}

extern "C" void tmpi_shim_catch_terminate() {
  std::call_once(once, [] { process_handler = std::set_terminate(&terminate); });
}
