// Linked into libtmpi-shim.so only. The constructor is entered by hand for its alignment: .init_array is what
// the writable data begin with, so they begin on a page of their own, and what every rank writes (the GOT and
// the first variables, see CMakeLists.txt) fits into that one.
#include "privatize/shim/shim.h"

__attribute__((section(".init_array"), aligned(4096),
               used)) static void (*const constructor)(int, char**, char**) = &tmpi_shim_take_arguments;
