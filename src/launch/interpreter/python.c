/* The program that ranks run in place of a Python that can be mapped only once: nothing but that Python's library, whose
 * version the loader chooses (launch/node/python.hpp). No header of Python's is needed to build it. */
#include <stdio.h>

extern int Py_BytesMain(int argc, char** argv) __attribute__((weak)); /* since Python 3.8 */

int main(int argc, char** argv) {
  if (Py_BytesMain != NULL) return Py_BytesMain(argc, argv);
  fputs(
      "tmpi-python: tmpirun gives this program the library of a Python, and there is none; run tmpirun -n N "
      "python3\n",
      stderr);
  return 127;
}
