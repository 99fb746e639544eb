/* What code that runs inside a rank's image (the shim, the entry) asks of the node process: plain C, since
 * the shim is privatized with the program and binds to these names in the node process's executable (or in
 * libtmpi.so when the program runs by itself). The node process does what is registered (rank_callbacks.hpp).
 * `rank` is the world rank that the loader wrote into the image's tmpi_image_rank variable: no "current rank"
 * look-up. */
#ifndef TMPI_PRIVATIZE_RANK_CALLBACKS_H
#define TMPI_PRIVATIZE_RANK_CALLBACKS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

/* In the child of a fork(2), which has no node process, the first four do what the process itself would: it
 * ends, writes, reads. */
#ifdef __cplusplus
extern "C" {
#endif

/* Ends the rank with exit code `code` after its atexit handlers, destructors and flushes have run: leaves the
 * fiber for good. The job's rules (a rank that exits without MPI_Finalize while others wait for it, first
 * non-zero code wins) are decided there. */
void tmpi_rank_exited(int rank, int code) __attribute__((noreturn));

/* Ends the whole job: abort(), an uncaught exception, a failed assertion. `why` is one sentence. Exit code
 * 128 + SIGABRT. */
void tmpi_rank_aborted(int rank, const char* why) __attribute__((noreturn));

/* Output of a rank: stream 1 or 2. Any bytes, any length; the launcher emits whole lines, prefixed if asked.
 * Returns length. */
ssize_t tmpi_rank_write(int rank, int stream, const void* data, size_t length);

/* Input: rank 0 reads the job's stdin (blocking the OS thread only if nothing else could run; may suspend the
 * fiber); every other rank reads end-of-file. Returns bytes read, 0 at the end, -1 with errno. */
ssize_t tmpi_rank_read(int rank, void* data, size_t length);

/* Implemented by the loader (privatize/); absent when the program runs by itself, so declare them weak there.
 */

/* The destructors (fini arrays) of everything in the rank's image, last constructed first; exit() calls it
 * after the atexit list. */
void tmpi_image_fini(int rank);

/* Non-zero if ranks of this job are saved and revived (rank_slots.hpp): what the shim keeps for one lies in its own memory. */
int tmpi_ranks_are_saved(void);

/* Non-zero on a thread that the rank created itself: its thread_local destructors and its end are libc's
 * business, not the rank's. */
int tmpi_on_helper_thread(void);

/* Non-zero in the child of a fork(2): exit() there must flush what is its own and end with the real _exit. */
int tmpi_in_forked_child(void);

/* Non-zero on a rank's own flow where a scheduler stands behind it: it may wait and not block its thread. */
int tmpi_may_suspend(void);

/* read, write, readv and writev of a descriptor that is none of the rank's standard streams: with --sleep yield
 * the worker's other ranks run while it waits. */
ssize_t tmpi_wait_read(int fd, void* data, size_t length);
ssize_t tmpi_wait_write(int fd, const void* data, size_t length);
ssize_t tmpi_wait_readv(int fd, const struct iovec* parts, int count);
ssize_t tmpi_wait_writev(int fd, const struct iovec* parts, int count);

/* The rank is about to close a descriptor that is none of its standard streams: its record locks on that file go. */
void tmpi_rank_closes(int rank, int fd);

/* Opens a stream by `open`, libc's fopen; the worker's other ranks run while it
 * waits for the other end of a FIFO. */
FILE* tmpi_wait_open(FILE* (*open)(const char*, const char*), const char* path, const char* mode);

/* Scans a stream by `scan`, one of libc's vfscanf; the worker's other ranks run while it waits. */
int tmpi_wait_scan(int (*scan)(FILE*, const char*, va_list), FILE* file, const char* format,
                   va_list arguments);

/* Flushes a stream by `flush`, libc's fflush; the worker's other ranks run while a pipe is full. */
int tmpi_wait_flush(int (*flush)(FILE*), FILE* file);

/* getdelim of libc; the worker's other ranks run while it waits, as far as --sleep says so. */
ssize_t tmpi_getdelim(char** line, size_t* size, int end, FILE* stream);

/* Whose a descriptor above 2 is (descriptor_owners.hpp): the calling rank has made it, and gets it back, or where it is now;
 * the same, and it stays where it is, or can be taken along by a rank that is saved; the rank may close it; it is its own for
 * certain; the largest that was noticed. */
int tmpi_own_descriptor(int fd);
int tmpi_own_descriptor_here(int fd);
int tmpi_own_descriptor_taken_along(int fd);
int tmpi_may_close(int fd);
int tmpi_is_own_descriptor(int fd);
int tmpi_last_descriptor(void);
/* In a child that the rank has made: closes what is other ranks'. */
void tmpi_close_descriptors_of_others(void);
/* In a child that the rank has made: the limits on resources that the rank has set become the child's. */
void tmpi_hand_down_limits(void);
/* In a child of the rank that is about to become another program: the limits that programs are started with. */
void tmpi_limit_child(void);
/* dup3(2), or dup2(2) with flags 0, that leaves alone what the rank must not close. */
int tmpi_dup_onto(int from, int to, int flags);

/* `path` as the kernel is to have it (own_file.hpp): itself, the file of the rank's program, or what has been
 * written into the buffer of TMPI_OWN_FILE_SIZE bytes. */
#define TMPI_OWN_FILE_SIZE 256
const char* tmpi_own_file(const char* path, char* buffer);

/* Something that happens once (a zeroed word, ThreadEvent of privatize/thread_hooks.hpp): _happen on any
 * thread, _wait by the rank's own flow where it may suspend; `where` is for state dumps of blocked ranks. */
void tmpi_thread_event_happen(void* event);
void tmpi_thread_event_wait(void* event, const char* where);

#ifdef __cplusplus
}
#endif
#endif
