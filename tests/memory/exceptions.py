#!/usr/bin/env python3
"""C++ exceptions that the program's callbacks throw (throws.cpp). exceptions.py TMPIRUN PROGRAM"""
import re
import subprocess
import sys

tmpirun, program = sys.argv[1:]
SENTENCES = {
    "operator": r"rank \d+ on \S+: MPI_Allreduce: the program's reduction operator has thrown an exception \(std::bad_alloc\)",
    "copy": r"rank \d+ on \S+: MPI_Comm_dup: the program's attribute copy function has thrown an exception \(of a type",
    "delete": r"MPI_Comm_delete_attr: the program's attribute delete function has thrown .* \(thrown by the delete function\)",
    "query": r"MPI_Wait: the program's query_fn of a generalized request has thrown .* \(thrown by the query function\)",
}


# Of one rank that has no memory left.
WITHOUT_MEMORY = {
    "abort": r"rank 0 on \S+ called MPI_Abort with code 5",
    "fatal": r"rank 0 on \S+: MPI_Send failed: MPI_ERR_RANK",
    "called": r"rank 0 on \S+: MPI_Comm_call_errhandler failed: MPI_ERR_OTHER",
}


def run(what, ranks=3):
    result = subprocess.run([tmpirun, "-n", str(ranks), program, what], capture_output=True, text=True, timeout=60, check=False)
    return result.returncode, result.stdout, result.stderr


outcome = run("handler")
assert outcome == (0, "21 exceptions caught\n", ""), outcome
for kind, sentence in SENTENCES.items():
    code, out, err = run(kind)
    assert code != 0 and re.search(sentence, err) and err.count("\n") == 1, (kind, code, out, err)
for kind, sentence in WITHOUT_MEMORY.items():
    code, out, err = run(kind, 1)
    assert code not in (0, 99) and re.search(sentence, err) and err.count("\n") == 1, (kind, code, out, err)
print("exceptions of callbacks pass, or end the job with a sentence")
