#!/usr/bin/env python3
"""Fails unless a module finds every argument of a wrong type: each function is called once for each argument that the module can check, with a
value there that is nothing of MPI's, and the compiler has to name each of these lines, but not the call without such a one.

    refused.py LIBTMPI mpi|f08 TMPIFORT
"""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fortran_arguments  # noqa: E402
import fortran_modules  # noqa: E402
import generate_calls  # noqa: E402
import generate_fortran  # noqa: E402

# What may be of any type: buffers; in module mpi the addresses that MPI gives out, which a buffer takes.
ANYTHING = {"choice", "buffer_out"}


def wrong_calls(function, f08):
    """What a subroutine declares, the call that is right, and a wrong one for each argument."""
    declared, _, _ = generate_calls.fortran_call(function, f08)
    names = [f"a{i}" for i in range(len(function.arguments))]
    calls = [[*names[:i], "nothing", *names[i + 1:]] for i, a in enumerate(function.arguments) if a.kind not in ANYTHING]
    calls.append([*names, "nothing"])  # ierror
    right, *wrong = [f"call {function.name}({', '.join(c)})" for c in [[*names, "ierr"], *calls]]
    return declared, right, wrong


def program(functions, f08):
    """The source, and the numbers of its lines that are wrong."""
    lines = ["module wrong", "use mpi_f08" if f08 else "use mpi", "use, intrinsic :: iso_c_binding", "implicit none", "type none_of_mpi", "integer :: x",
             "end type", "type(none_of_mpi) :: nothing", "contains"]
    wrong = {}
    for f in functions:
        declared, right, calls = wrong_calls(f, f08)
        lines += [f"subroutine try_{f.name}()", "integer :: ierr", *declared, right]
        for call in calls:
            lines.append(call)
            wrong[len(lines)] = call
        lines.append("end subroutine")
    return "\n".join([*lines, "end module"]) + "\n", wrong


def main():
    library, interface, compiler = sys.argv[1:]
    names = generate_fortran.exported(library)
    functions = [f for f in fortran_arguments.functions() if f.name in names and not f.large and f.name not in fortran_modules.FUNCTIONS]
    text, wrong = program(functions, interface == "f08")
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory) / "wrong.f90"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([compiler, "-fsyntax-only", "-fmax-errors=0", "-ffree-line-length-none", f"-J{directory}", str(source)], check=False,
                              capture_output=True, text=True)
    found = {int(line) for line in re.findall(r"wrong\.f90:(\d+):\d+:", done.stderr)}
    missed = [call for line, call in wrong.items() if line not in found]
    other = found - set(wrong)
    for call in missed:
        print(f"compiles: {call}")
    for line in sorted(other):
        print(f"an error in line {line}, which is right: {text.splitlines()[line - 1]}")
    print(f"{interface}: {len(wrong) - len(missed)} of {len(wrong)} wrong calls of {len(functions)} functions do not compile")
    return 1 if missed or other else 0


if __name__ == "__main__":
    sys.exit(main())
