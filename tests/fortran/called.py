#!/usr/bin/env python3
"""Fails unless the test programs of an interface call, between them, every procedure of it that tmpi has: what a program calls, its symbols say.

    called.py LIBTMPI mpif|mpi|f08 PROGRAM...
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
import fortran_arguments  # noqa: E402
import fortran_modules  # noqa: E402
import generate_fortran  # noqa: E402


# Procedures that C does not have, so that no table names them.
FORTRAN_ONLY = {"mpif": ["mpi_f_sync_reg_"],
                "mpi": ["mpi_f_sync_reg_", "mpi_sizeof_f08ts_", "mpi_status_f2f08_f08_", "mpi_status_f082f_f08_"],
                "f08": ["mpi_f_sync_reg_f08ts_", "mpi_sizeof_f08ts_", "mpi_status_f2f08_f08_", "mpi_status_f082f_f08_"]}


def procedures(library, f08):
    """{name of the MPI function: symbol of its procedure in this interface}"""
    names = generate_fortran.exported(library)
    functions = {f.name: f for f in fortran_arguments.all_functions()}
    found = {}
    for name, function in functions.items():
        if name not in names or function.large and not f08:
            continue
        small = functions.get(name.removesuffix("_c"))
        if function.large and name not in fortran_modules.OWN_NAME and small and fortran_modules.indistinguishable(function, small):
            continue  # has no name of its own in the module
        suffix = "" if not f08 or name in fortran_modules.FUNCTIONS else "_f08ts" if fortran_arguments.choices(function) else "_f08"
        found[name] = f"{name.lower()}{suffix}_"
    return found


def main():
    library, interface, *programs = sys.argv[1:]
    called = set()
    for program in programs:
        out = subprocess.run(["nm", "-D", "--undefined-only", program], check=True, capture_output=True, text=True).stdout
        called |= set(re.findall(r"\bmpi_\w+", out))
    wanted = procedures(library, interface == "f08") | {symbol: symbol for symbol in FORTRAN_ONLY[interface]}
    missing = [name for name, symbol in wanted.items() if symbol not in called]
    for name in missing:
        print(f"{name} is not called by any test program of {interface}: if its binding is written by hand, add it to by_hand.F90")
    print(f"{interface}: {len(wanted) - len(missing)} of {len(wanted)} procedures are called")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
