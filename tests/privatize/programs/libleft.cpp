#include "check.h"
#include "libshapes.hpp"

int left_state = 11;
thread_local int left_thread_local = 22;
static int constructed = 0;
namespace {
struct Start {
  Start() { constructed = ++Registry<int>::next(); }
  ~Start() { test_count("left destroyed"); }
} start;
}  // namespace

std::string LeftThing::name() const {
  return "left " + std::to_string(left_state);
}
Base* make_left() {
  return new LeftThing;
}
int left_bump(int by) {
  inline_variable += by;
  inline_thread_local += by;
  Registry<int>::count += by;
  return left_state += by;
}
int* left_inline_address() {
  return &inline_variable;
}
int left_constructed_before_right() {
  return constructed;
}
