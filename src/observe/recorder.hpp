// Recorder: the wrapper that a program's MPI_X is bound to while it is observed: calls the library's PMPI_X
// and notes when, how long, from where, and how many bytes. One instance per function, made by the compiler
// from the function's type and its Shape.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/words.hpp"
#include "mpi.h"
#include "observe/measure.hpp"

namespace tmpi::observe {

struct RankRecord;

/// A call from its begin to its end. On the caller's stack. Out of line as far as it can be: there are some
/// six hundred recorders.
class OpenCall {
 public:
  /// Of the calling thread's rank; of nobody, if it has none.
  /// `frame`: of the function that the program's call is bound to (mpi/rank/bindings.hpp).
  OpenCall(std::uint16_t function, const void* frame) noexcept;
  OpenCall(const OpenCall&) = delete;

  /// The call has returned. By the same rank, perhaps on another worker.
  void close(const Measured& measured) noexcept;
  /// The same, for a call with arguments to read (measure.hpp) if it has succeeded.
  void close(int result, const Shape& shape, const std::uint64_t* words) noexcept;

 private:
  void note_order(std::uint64_t end) noexcept;

  RankRecord* rank_;  // null: the call is not recorded
  std::uint64_t address_ = 0;
  std::uint64_t waited_ = 0;
  std::uint64_t idled_ = 0;
  std::uint64_t begin_ = 0;
  const std::uint16_t function_;
};

/// kShapes: the shapes of all functions, by index (clang 14 takes the whole array as an argument, but no element of it).
template <auto kFunction, std::uint16_t kIndex, const auto& kShapes>
struct Recorder;

template <class... Arguments, int (*kFunction)(Arguments...), std::uint16_t kIndex, const auto& kShapes>
struct Recorder<kFunction, kIndex, kShapes> {
  static constexpr const Shape& kShape = kShapes[kIndex];
  static inline int (*next)(Arguments...) = kFunction;  // or its version for a replay

  /// Never inlined and never left by a jump, so that its frame has the program's call above it.
  [[gnu::noinline]] static int call(Arguments... arguments) {
    OpenCall open(kIndex, __builtin_frame_address(0));
    MPI_Status status;
    if constexpr (kShape.status != Shape::kAbsent) {
      auto& asked = std::get<static_cast<std::size_t>(kShape.status)>(std::tie(arguments...));
      if (asked == MPI_STATUS_IGNORE) asked = &status;  // how much has come is known from nowhere else
    }
    const int result = next(arguments...);
    if constexpr (kShape == Shape{}) {  // nothing to read: nearly half of the functions, and less to compile
      open.close(Measured{});
    } else {
      const Words<sizeof...(Arguments)> words = {word(arguments)...};
      open.close(result, kShape, words.data());
    }
    return result;
  }
  static void go_on_to(const void* version) noexcept {
    next = reinterpret_cast<int (*)(Arguments...)>(const_cast<void*>(version));
  }
};

}  // namespace tmpi::observe
