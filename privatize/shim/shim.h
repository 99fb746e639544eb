/* libtmpi-shim.so: the state that libc keeps once per process and a program expects for itself. The loader
 * privatizes this library together with the program (privatization, docs/reference/libc-state.md): every rank has its
 * own copy of its data, so a plain global here *is* a rank's own variable, and nothing asks "which rank am
 * I". Symbol order: program, shim, everything else; therefore a program's printf, exit, getopt, std::cout ...
 * bind to the shim's, and the shim reaches libc's own versions only through tmpi_libc
 * (host/libc_originals.hpp). */
#ifndef TMPI_PRIVATIZE_SHIM_SHIM_H
#define TMPI_PRIVATIZE_SHIM_SHIM_H

#ifdef __cplusplus
extern "C" {
#endif

/* World rank of the image, written by the loader or by tmpi_shim_start. */
extern int tmpi_image_rank;

/* Makes the shim ready: the rank's streams and environment. Called once per rank, on the rank's fiber, before
 * any constructor of the image. `environment`, strings and array, must live as long as the rank; it becomes
 * `environ` as it is, without a copy. */
void tmpi_shim_start(int rank, char** environment);

/* What the shim knows to be in the way of that: the end of a sentence that begins with the rank; null: nothing. */
const char* tmpi_shim_why_not_saved(void);

/* 0 to 2: `fd` is a copy, made by dup, of that stream of the launcher's. -1: it is none. */
int tmpi_shim_stream_behind(int fd);

/* The rank has been revived in another process (docs/design/checkpoint.md): its memory is what it was. On its own flow, before
 * any code of the program. */
void tmpi_shim_go_on(void);

/* The shim's only constructor, called like every constructor: remembers the program's name. */
void tmpi_shim_take_arguments(int argc, char** argv, char** environment);

/* Runs the destructors of the image's objects, last initialised first. Provided by the loader. */
void tmpi_image_fini(int rank);

#ifdef __cplusplus
}
#endif
#endif
