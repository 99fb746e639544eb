#include "privatize/own_code.hpp"

#include <string.h>
#include <ucontext.h>
#include <unwind.h>

#include <cstdint>

#include "base/platform.hpp"
#include "privatize/arena_registry.hpp"
#include "privatize/entry.hpp"
#include "privatize/image_set.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_state.hpp"

namespace tmpi::privatize {
namespace {

constexpr int kMostFrames = 1000;

/// Of the rank's image, and not the shim, which calls the runtime.
bool is_own(std::uintptr_t address, int rank) noexcept {
  const ImageLocation where = locate(reinterpret_cast<const void*>(address));
  if (!where || where.set->rank(where.index) != rank) return false;
  const Object* const object = where.set->object_at(where.offset);
  return object != nullptr && strstr(object->file->path().c_str(), "/libtmpi-shim.") == nullptr;
}

struct Walk {
  std::uintptr_t instruction;  // the interrupted one: frames before it are the handler's
  int rank;
  bool started = false;
  bool from_main = false;
  int frames = 0;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* argument) noexcept {
  Walk& walk = *static_cast<Walk*>(argument);
  int before_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == walk.instruction) walk.started = true;
  if (!walk.started) return _URC_NO_REASON;
  if (++walk.frames > kMostFrames) return _URC_END_OF_STACK;
  if (is_own(address - (before_instruction != 0 ? 0 : 1), walk.rank)) return _URC_NO_REASON;
  walk.from_main = _Unwind_GetRegionStart(context) == reinterpret_cast<std::uintptr_t>(&tmpi_enter_image);
  return _URC_END_OF_STACK;
}

}  // namespace

bool is_in_own_code(const void* context) noexcept {
  const std::uintptr_t instruction = instruction_pointer(*static_cast<const ucontext_t*>(context));
  Walk walk{instruction, running_rank()};
  const RankState* const state = rank_state(walk.rank);
  if (state == nullptr || state->constructing != 0 || !is_own(instruction, walk.rank)) return false;
  _Unwind_Backtrace(&look_at_frame, &walk);
  return walk.from_main;
}

}  // namespace tmpi::privatize
