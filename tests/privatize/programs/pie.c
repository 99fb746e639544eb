/* An ordinary PIE that was not linked by tmpicc: no thread-locals of its own. Starts at its own _start. */
#include <errno.h>
#include <string.h>

#include "check.h"

static int counter = 1;
static FILE** stream = &stdout;

int main(int argc, char** argv) {
  CHECK(argc == 2 && strcmp(argv[1], "argument") == 0);
  counter += test_rank();
  errno = test_rank();
  test_yield();
  CHECK(counter == 1 + test_rank() && errno == test_rank() && *stream == stdout && stdout != NULL);
  return test_rank() % 50;
}
