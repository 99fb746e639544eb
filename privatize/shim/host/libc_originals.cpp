#include "privatize/shim/host/libc_originals.hpp"

extern "C" const TmpiLibcOriginals tmpi_libc = {
#define TMPI_LIBC_ADDRESS(name) &::name,
    TMPI_LIBC_ORIGINALS(TMPI_LIBC_ADDRESS)
#undef TMPI_LIBC_ADDRESS
};
