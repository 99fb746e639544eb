#!/usr/bin/env python3
"""What a user is told about a mistake under MPI_ERRORS_ARE_FATAL: one message with call, rank, error class and cause; the job ends at once with a
non-zero code (a job that goes on says so).

  tests/mpi/fatal.py TMPIRUN FATAL_PROGRAM
"""
import re
import subprocess
import sys

# The mistake (fatal.c), and what the message has to contain.
CASES = {
    "bad_rank": ["MPI_Send", "MPI_ERR_RANK", "77", "0 to 2"],
    "bad_tag": ["MPI_Send", "MPI_ERR_TAG", "-3"],
    "bad_count": ["MPI_Recv", "MPI_ERR_COUNT", "-4"],
    "bad_comm": ["MPI_Barrier", "MPI_ERR_COMM", "MPI_COMM_NULL"],
    "bad_type": ["MPI_Bcast", "MPI_ERR_TYPE", "MPI_DATATYPE_NULL"],
    "bad_root": ["MPI_Bcast", "MPI_ERR_ROOT", "9"],
    "bad_op": ["MPI_Allreduce", "MPI_ERR_OP"],
    "null_buffer": ["MPI_Send", "MPI_ERR_BUFFER", "NULL"],
    "uncommitted": ["MPI_Send", "MPI_ERR_TYPE", "MPI_Type_commit"],
    "truncated": ["MPI_Recv", "MPI_ERR_TRUNCATE", "8 bytes", "tag 5"],
    "abort": ["MPI_Abort", "33"],
    "errors_abort": ["MPI_Send", "MPI_ERR_TAG", "-8"],
    "own_code": ["MPI_Comm_call_errhandler", "the flux capacitor is empty"],
    "large_graph": ["MPI_Graph_create", "MPI_ERR_ARG", "nnodes is 2", "1 ranks"],
    "after_finalize": ["MPI_Barrier", "MPI_Finalize"],
    "before_init": ["MPI_Barrier", "MPI_Init"],
    "thread_single": ["MPI_Send", "thread", "MPI_THREAD_SINGLE", "MPI_Init_thread"],
    "thread_funneled": ["MPI_Send", "thread", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED"],
    "thread_finalize": ["MPI_Finalize", "thread"],
    "thread_abort": ["MPI_Abort", "33"],
}


def problems(tmpirun, program, case, words):
    """Sentences about what is wrong with this case's end; empty if nothing."""
    done = subprocess.run([tmpirun, "-n", "3", "--workers", "2", program, case], capture_output=True, text=True, timeout=200, check=False)
    found = []
    if done.returncode == 0:
        found.append("exit code 0")
    if case in ("abort", "thread_abort") and done.returncode != 33:
        found.append(f"exit code {done.returncode}, MPI_Abort said 33")
    if "still alive" in done.stdout:
        found.append("the program went on")
    found += [f"does not say {word!r}" for word in words if word not in done.stderr]
    if case not in ("before_init",) and not re.search(r"rank 1\b", done.stderr):
        found.append("does not name rank 1")
    return [f"{case}: {sentence}" for sentence in found] + ([done.stderr] if found else [])


def main():
    tmpirun, program = sys.argv[1:3]
    found = [line for case, words in CASES.items() for line in problems(tmpirun, program, case, words)]
    print("\n".join(found) or f"{len(CASES)} mistakes, each told well")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
