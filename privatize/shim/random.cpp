// rand, random and drand48 with a state per rank, over libc's _r functions: the numbers are those that the
// program gets by itself.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "privatize/shim/lock.hpp"

namespace tmpi::shim {
namespace {

Lock lock;

// What libc starts with: 31 words of state after a header word, seed 1.
struct random_data random_state;
alignas(int32_t) char default_table[128];

/// The rank's generator, under the lock.
struct random_data* generator() noexcept {
  if (random_state.state == nullptr) initstate_r(1, default_table, sizeof default_table, &random_state);
  return &random_state;
}

/// The table in use, as initstate and setstate return it: with the header word before the state.
char* current_table() noexcept {
  return reinterpret_cast<char*>(generator()->state - 1);
}

struct drand48_data drand48_state;

}  // namespace

extern "C" {

long random() {
  Locked locked(lock);
  int32_t result;
  random_r(generator(), &result);
  return result;
}
int rand() {
  return static_cast<int>(random());
}

void srandom(unsigned seed) {
  Locked locked(lock);
  srandom_r(seed, generator());
}
void srand(unsigned seed) {
  srandom(seed);
}

char* initstate(unsigned seed, char* table, size_t size) {
  Locked locked(lock);
  char* previous = current_table();
  return initstate_r(seed, table, size, generator()) == 0 ? previous : nullptr;
}

char* setstate(char* table) {
  Locked locked(lock);
  char* previous = current_table();
  return setstate_r(table, generator()) == 0 ? previous : nullptr;
}

double drand48() {
  Locked locked(lock);
  double result;
  drand48_r(&drand48_state, &result);
  return result;
}
double erand48(unsigned short state[3]) {
  Locked locked(lock);
  double result;
  erand48_r(state, &drand48_state, &result);
  return result;
}
long lrand48() {
  Locked locked(lock);
  long result;
  lrand48_r(&drand48_state, &result);
  return result;
}
long nrand48(unsigned short state[3]) {
  Locked locked(lock);
  long result;
  nrand48_r(state, &drand48_state, &result);
  return result;
}
long mrand48() {
  Locked locked(lock);
  long result;
  mrand48_r(&drand48_state, &result);
  return result;
}
long jrand48(unsigned short state[3]) {
  Locked locked(lock);
  long result;
  jrand48_r(state, &drand48_state, &result);
  return result;
}
void srand48(long seed) {
  Locked locked(lock);
  srand48_r(seed, &drand48_state);
}
unsigned short* seed48(unsigned short seed[3]) {
  Locked locked(lock);
  seed48_r(seed, &drand48_state);
  return drand48_state.__old_x;
}
void lcong48(unsigned short parameters[7]) {
  Locked locked(lock);
  lcong48_r(parameters, &drand48_state);
}

}  // extern "C"

}  // namespace tmpi::shim
