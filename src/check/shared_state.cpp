#include "check/shared_state.hpp"

namespace tmpi::check {
namespace {

constexpr SharedState kTable[] = {
#include "check/shared_state.inc"
};

}  // namespace

std::span<const SharedState> shared_state() noexcept {
  return kTable;
}

}  // namespace tmpi::check
