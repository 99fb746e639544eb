// The one main() of all unit-test binaries.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

int main(int argc, char** argv) {
  // Never destroyed: ThreadSanitizer now and then takes its end for a race with what a thread has asserted that a fiber
  // has joined long before.
  static doctest::Context& context = *new doctest::Context(argc, argv);
  return context.run();
}
