#include <stdexcept>

#include "check.h"
#include "libshapes.hpp"

int right_state = 33;
static int left_was_first = left_constructed_before_right();  // libright needs libleft, so that must be ready
namespace {
struct End {
  ~End() { test_count("right destroyed"); }
} end;
}  // namespace

std::string RightThing::name() const {
  return "right " + std::to_string(right_state) + " " + std::to_string(left_was_first);
}
Base* make_right() {
  return new RightThing;
}
int right_bump(int by) {
  inline_variable += by;
  inline_thread_local += by;
  Registry<int>::count += by;
  left_thread_local += by;
  return right_state += left_bump(by) * 0 + by;
}
int* right_inline_address() {
  return &inline_variable;
}
void right_throw(int value) {
  if (value >= 0) throw std::runtime_error("right " + std::to_string(value));
}
