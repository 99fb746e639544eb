/* What the shim asks of its part that exists once per process (this folder): state that all ranks of a node
 * share and that must be told apart there. Plain C names, exported by the node process's executable. */
#ifndef TMPI_PRIVATIZE_SHIM_HOST_HOST_FUNCTIONS_H
#define TMPI_PRIVATIZE_SHIM_HOST_HOST_FUNCTIONS_H

#include <signal.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* The rank's handler for SIGSEGV, SIGBUS, SIGFPE or SIGILL, with the contract of sigaction(2). Raised on
 * behalf of an instruction of the rank, the signal reaches the rank's own handler only; a rank without one
 * gets what the process had before. */
int tmpi_shim_fault_action(int rank, int signal, const struct sigaction* action, struct sigaction* previous);
/* 1 for the four signals above. */
int tmpi_shim_is_fault(int signal);

/* std::set_terminate for one rank: returns the rank's previous handler. And the one in force. Never null. */
typedef void (*TmpiTerminateHandler)(void);
TmpiTerminateHandler tmpi_shim_set_terminate(int rank, TmpiTerminateHandler handler);
TmpiTerminateHandler tmpi_shim_get_terminate(int rank);
/* Makes the process's std::terminate respect ranks. Any number of times, any thread. */
void tmpi_shim_catch_terminate(void);

/* The rank has moved the process, which has one working directory for all ranks, from where the rank believed
 * it to be to another absolute path. Returns the rank whose choice this overrules, -1 if none: ranks that
 * follow each other to one place disturb nobody. */
int tmpi_shim_moved(int rank, const char* from, const char* to);
/* Where the process was before the first rank moved it; to be asked before moving. Empty if that place has no
 * name. */
const char* tmpi_shim_start_directory(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
