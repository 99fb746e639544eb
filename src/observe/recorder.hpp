// Recorder: the wrapper that a program's MPI_X is bound to while it is observed: calls the library's PMPI_X
// and notes when, how long, from where, and how many bytes. One instance per function, made by the compiler
// from the function's type and its Shape.
#pragma once

#include <tuple>
#include <utility>

#include "observe/measure.hpp"
#include "observe/recording.hpp"
#include "timers/clock.hpp"

namespace tmpi::observe {

/// A call from its begin to its end. On the caller's stack.
class OpenCall {
 public:
  OpenCall(RankRecord& rank, std::uint16_t function, const void* return_address) noexcept
      : rank_(rank),
        address_(rank.comes_from == 0 ? reinterpret_cast<std::uint64_t>(return_address)
                                      : std::exchange(rank.comes_from, 0)),
        waited_(rank.waited),
        idled_(rank.idled),
        begin_(timers::now_ticks()),
        function_(function) {
    if (rank.open++ > 0) return;
    rank.call_begin = begin_;
    rank.call_address = address_;
    rank.call_waited = waited_;
    rank.call_idled = idled_;
    rank.call_function = function;
  }
  OpenCall(const OpenCall&) = delete;

  /// The call has returned. By the same rank, perhaps on another worker.
  void close(const Measured& measured) noexcept;

 private:
  RankRecord& rank_;
  const std::uint64_t address_;
  const std::uint64_t waited_;
  const std::uint64_t idled_;
  const std::uint64_t begin_;
  const std::uint16_t function_;
};

template <auto kFunction, std::uint16_t kIndex, Shape kShape>
struct Recorder;

template <class... Arguments, int (*kFunction)(Arguments...), std::uint16_t kIndex, Shape kShape>
struct Recorder<kFunction, kIndex, kShape> {
  /// Never inlined and never left by a jump, so that the return address is the program's call.
  [[gnu::noinline]] static int call(Arguments... arguments) {
    RankRecord* rank = Recording::instance()->calling_rank();
    if (rank == nullptr) [[unlikely]]
      return kFunction(arguments...);
    if constexpr (kShape == Shape{}) {  // nothing to read: nearly half of the functions, and less to compile
      OpenCall open(*rank, kIndex, __builtin_return_address(0));
      const int result = kFunction(arguments...);
      open.close(Measured{});
      return result;
    }
    const auto tuple = std::tie(arguments...);
    MPI_Status status;
    if constexpr (kShape.status != Shape::kAbsent) {
      auto& asked = std::get<static_cast<std::size_t>(kShape.status)>(tuple);
      if (asked == MPI_STATUS_IGNORE) asked = &status;  // how much has come is known from nowhere else
    }
    OpenCall open(*rank, kIndex, __builtin_return_address(0));
    const int result = kFunction(arguments...);
    open.close(result == MPI_SUCCESS ? measure<kShape>(tuple) : Measured{});
    return result;
  }
};

}  // namespace tmpi::observe
