/* The procedures whose bindings follow from their prototypes (tools/generate_fortran.py). */
#include "fortran/convert.h"

#include <stdlib.h>

#include "fortran/bindings.inc"
