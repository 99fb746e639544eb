"""The functions of mpix.h in Fortran's three interfaces; the C side is src/fortran/extensions.c."""

CLOCKS = ("Rtime", "Ptime")
SECTION = ("Start_processor_timer", "Stop_processor_timer")
# Name, arguments but ierror: each with its type in Fortran.
CALLS = (
    ("Yield", ()),
    ("Get_worker", (("worker", "INTEGER, INTENT(OUT)"), ("workers", "INTEGER, INTENT(OUT)"))),
    ("Migrate", (("worker", "INTEGER, INTENT(IN)"),)),
    ("Balance", ()),
    ("Pin", (("flag", "LOGICAL, INTENT(IN)"),)),
    ("Checkpoint", (("directory", "CHARACTER(LEN=*), INTENT(IN)"),)),
    ("Restarted", (("flag", "LOGICAL, INTENT(OUT)"),)),
    ("Counter_open", (("name", "CHARACTER(LEN=*), INTENT(IN)"), ("counter", "INTEGER(KIND=MPI_ADDRESS_KIND), INTENT(OUT)"))),
    ("Rcounter", (("counter", "INTEGER(KIND=MPI_ADDRESS_KIND), INTENT(IN)"), ("value", "INTEGER(KIND=MPI_COUNT_KIND), INTENT(OUT)"))),
    ("Pcounter", (("counter", "INTEGER(KIND=MPI_ADDRESS_KIND), INTENT(IN)"), ("value", "INTEGER(KIND=MPI_COUNT_KIND), INTENT(OUT)"))),
    ("Counter_close", (("counter", "INTEGER(KIND=MPI_ADDRESS_KIND), INTENT(INOUT)"),)),
)
NO_COUNTER = "INTEGER(KIND=MPI_ADDRESS_KIND), PARAMETER :: MPIX_COUNTER_NULL = 0"


def interfaces(prefix, ierror):
    """For a module. The clocks are C's own, so that a program that reads them is seen to refer to them; `ierror`: its declaration."""
    lines = ["INTERFACE"]
    for name in CLOCKS:
        lines += [f'DOUBLE PRECISION FUNCTION {prefix}MPIX_{name}() BIND(C, NAME="{prefix}MPIX_{name}")', "END FUNCTION"]
    for name in SECTION:
        lines += [f'SUBROUTINE {prefix}MPIX_{name}() BIND(C, NAME="{prefix}MPIX_{name}")', "END SUBROUTINE"]
    for name, arguments in CALLS:
        names = ", ".join([*(argument for argument, _ in arguments), "ierror"])
        lines += [f"SUBROUTINE {prefix}MPIX_{name}({names})", "IMPORT :: MPI_ADDRESS_KIND, MPI_COUNT_KIND"]
        lines += [f"{kind} :: {argument}" for argument, kind in arguments]
        lines += [ierror, "END SUBROUTINE"]
    return "\n".join(lines) + "\nEND INTERFACE\n"


def declarations(prefix):
    """For mpif.h."""
    return [line for name in CLOCKS for line in (f"      DOUBLE PRECISION {prefix}MPIX_{name.upper()}", f"      EXTERNAL {prefix}MPIX_{name.upper()}")]
