// A library that ranks open with dlopen; refers to the program's functions, throws, and has thread-locals.
#include <stdexcept>

#include "check.h"

extern "C" {
extern int program_value;
int from_program(int x);
int plugin_state = 70;
thread_local int plugin_thread_local = 80;
int plugin_constructed = 0;

int plugin_bump(int by) {
  plugin_state += by;
  plugin_thread_local += by;
  return plugin_state + from_program(0);
}
int plugin_catch(int value) {
  try {
    if (value >= 0) throw std::runtime_error("plugin");
  } catch (const std::exception&) {
    test_yield();
    return value + 1;
  }
  return -1;
}
}

static struct Start {
  Start() {
    plugin_constructed = test_rank() + 1;
    ++program_value;
    --program_value;
    ++program_value;
  }
  ~Start() { test_count("plugin destroyed"); }
} start;
