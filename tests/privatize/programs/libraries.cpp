// A program with two shared libraries of its own: their data is a rank's too, references go across in all
// directions.
#include <memory>
#include <stdexcept>
#include <typeinfo>

#include "check.h"
#include "libshapes.hpp"

struct Mine : Base {};

int main() {
  const int rank = test_rank();
  CHECK(left_state == 11 && right_state == 33 && left_thread_local == 22 && inline_variable == 1);
  CHECK(left_constructed_before_right() == 101 && Registry<int>::next() == 101);
  CHECK(left_inline_address() == &inline_variable && right_inline_address() == &inline_variable);
  left_state += rank;
  test_yield();
  CHECK(right_bump(rank) == 33 + rank);
  test_yield();
  CHECK(left_state == 11 + 2 * rank && inline_variable == 1 + 2 * rank &&
        inline_thread_local == 2 + 2 * rank);
  CHECK(Registry<int>::count == 2 * rank && left_thread_local == 22 + rank);
  std::unique_ptr<Base> left(make_left()), right(make_right()), mine(new Mine);
  CHECK(left->name() == "left " + std::to_string(11 + 2 * rank));
  CHECK(right->name() == "right " + std::to_string(33 + rank) + " 101");
  CHECK(dynamic_cast<LeftThing*>(left.get()) != nullptr && dynamic_cast<LeftThing*>(right.get()) == nullptr);
  CHECK(typeid(*right) == typeid(RightThing) && mine->name() == "base");
  try {
    right_throw(rank);
    CHECK(false);
  } catch (const std::runtime_error& error) {
    test_yield();
    CHECK(error.what() == "right " + std::to_string(rank));
  }
  return 0;
}
