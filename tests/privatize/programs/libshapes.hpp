// Shared by the program and two private libraries: everything here has vague linkage, so one copy per rank
// must serve all three.
#pragma once
#include <string>

inline int inline_variable = 1;
inline thread_local int inline_thread_local = 2;
template <class T>
struct Registry {
  static int count;
  static int& next() {
    static int value = 100;
    return value;
  }
};
template <class T>
int Registry<T>::count = 0;

struct Base {
  virtual ~Base() = default;
  virtual std::string name() const { return "base"; }
};
struct LeftThing : Base {
  std::string name() const override;
};
struct RightThing : Base {
  std::string name() const override;
};

extern "C" {
extern int left_state;
extern int right_state;
extern thread_local int left_thread_local;
int left_bump(int by);
int right_bump(int by);
int* left_inline_address();
int* right_inline_address();
int left_constructed_before_right();
void right_throw(int value);
}
Base* make_left();
Base* make_right();
