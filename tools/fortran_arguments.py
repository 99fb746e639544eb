"""What the arguments of MPI functions are for Fortran, worked out from the C prototypes of the tables in src/mpi/abi (MPI report, 19.1).

The rules go by the C type and, where that says too little (a LOGICAL is an int in C), by the name of the parameter; the names are the
report's. A function that is added to the tables needs nothing here unless it does something that no function does so far.
"""

import collections
import re

import mpi_tables

HANDLES = ["Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"]
INTEGERS = {"int": "INTEGER", "MPI_Aint": "INTEGER(KIND=MPI_ADDRESS_KIND)", "MPI_Count": "INTEGER(KIND=MPI_COUNT_KIND)",
            "MPI_Offset": "INTEGER(KIND=MPI_OFFSET_KIND)"}

# LOGICAL in Fortran.
LOGICALS = {"flag", "reorder", "periods", "remain_dims", "high", "commute", "weighted"}
# Arguments of deprecated functions are INTEGER where later ones have an address.
OLD = re.compile(r"MPI_(Attr_get|Attr_put|Keyval_create)$")
# The length of a string that comes back, where the report fixes it; None: another argument says it, so the function is written by hand.
STRINGS_OUT = {"comm_name": "MPI_MAX_OBJECT_NAME", "type_name": "MPI_MAX_OBJECT_NAME", "win_name": "MPI_MAX_OBJECT_NAME",
               "string": "MPI_MAX_ERROR_STRING", "name": "MPI_MAX_PROCESSOR_NAME", "version": "MPI_MAX_LIBRARY_VERSION_STRING",
               "key": "MPI_MAX_INFO_KEY", "port_name": "MPI_MAX_PORT_NAME", "datarep": "MPI_MAX_DATAREP_STRING"}
# Strings whose leading blanks do not count either (10, The Info Object).
STRIPPED = {"key", "value"}

# In C only; the representation of LOGICAL is what a library over the C interface tells it.
C_ONLY = re.compile(r"MPI_T_|MPI_Abi_\w+_fortran_booleans$|MPI_\w+_(toint|fromint|c2f|f2c|c2f08|f082c)$")

# Written by hand in src/fortran: callbacks, strings with a length of their own, arguments that Fortran has not.
BY_HAND = re.compile(r"MPI_(Init|Init_thread|Pcontrol|Info_get|Info_get_string|Info_create_env|Session_get_nth_pset|Comm_spawn|"
                     r"Comm_spawn_multiple|Op_create|Op_create_c|\w+_create_errhandler|\w+_create_keyval|Keyval_create|Grequest_start|"
                     r"\w+_get_attr|\w+_set_attr|Attr_get|Attr_put|Register_datarep|Register_datarep_c|\w*[bB]uffer_detach|\w+_detach_buffer|"
                     r"\w*[bB]uffer_detach_c|\w+_detach_buffer_c|Wtime|Wtick|Aint_add|Aint_diff)$")

# Functions that give a handle back empty, or as it was.
CONSUMES = re.compile(r"MPI_(Wait|Test|Start|Cancel|Mrecv|Imrecv|Type_commit|Session_finalize|File_close|Comm_disconnect|\w+_free)(_c)?$")

# kind: value logical; array out logical_array logical_out (addresses that are passed on); handle handle_out handle_update handles; status
# statuses; choice; string string_out; index_out indices_out; pointer_out weights; and, by hand only: strings procedure buffer_out
Argument = collections.namedtuple("Argument", "name c_type kind const handle")
Function = collections.namedtuple("Function", "name c_result arguments large")

PARAMETER = re.compile(r"(const )?([\w ]+?) ?(\**)(\w+)((?:\[\d*\])*)$")


def classify(function, text):
    """The Argument of one C parameter."""
    match = PARAMETER.match(text)
    if match is None:
        raise ValueError(f"{function}: what is the parameter {text!r}?")
    const, base, stars, name, array = bool(match[1]), match[2], match[3], match[4], match[5]
    handle = base.removeprefix("MPI_") if base.removeprefix("MPI_") in HANDLES and base.startswith("MPI_") else None
    depth = len(stars) + bool(array)

    def argument(kind):
        return Argument(name, base, kind, const, handle)

    if base == "MPI_Status":
        return argument("statuses" if name.startswith("array_of") else "status")
    if handle:
        if depth == 0:
            return argument("handle")
        if array:
            return argument("handles")
        # MPI_Imrecv consumes the message, and gives a request out.
        consumes = CONSUMES.match(function) and (handle == "Message" or not function.startswith("MPI_Imrecv"))
        return argument("handle_update" if consumes else "handle_out")
    if base == "void":
        if name == "extra_state" or name == "attribute_val":
            kind = "out" if function.endswith(("_get_attr", "Attr_get")) else "value"
            return Argument(name, "int" if OLD.match(function) else "MPI_Aint", kind, const, None)
        return argument({"baseptr": "pointer_out", "buffer_addr": "buffer_out"}.get(name, "choice"))
    if base == "char":
        if depth > 1:
            return argument("strings")
        return argument("string" if const else "string_out")
    if base.endswith(("_function", "_function_c")):
        return argument("procedure")
    if base in INTEGERS:
        if depth == 0:
            return argument("logical" if name in LOGICALS else "value")
        if name == "indx" and not array:
            return argument("index_out")
        if name == "array_of_indices":
            return argument("indices_out")
        if base == "int" and array and name.endswith("weights"):
            return argument("weights")
        return argument(("logical_" if name in LOGICALS else "") + ("array" if array else "out"))
    raise ValueError(f"{function}: what is the type of {text!r}?")


def by_hand(name):
    return BY_HAND.match(name) is not None


# What Fortran does not pass.
NOT_PASSED = {"void", "", "int *argc", "char ***argv", "int argc", "..."}


def all_functions():
    """All functions that Fortran has, with what is passed in Fortran."""
    found = []
    for row in mpi_tables.functions():
        if C_ONLY.match(row.name):
            continue
        texts = [t for t in row.params.split(", ") if t not in NOT_PASSED]
        if row.name == "MPI_Info_create_env":
            texts = texts[1:]
        found.append(Function(row.name, row.result, [classify(row.name, t) for t in texts], row.kind == "func_c"))
    return found


def functions():
    """Those whose bindings follow from their prototypes."""
    return [f for f in all_functions() if not by_hand(f.name)]


def choices(function):
    return [a for a in function.arguments if a.kind == "choice"]


def fortran_name(function):
    return function.name.removeprefix("MPI_").lower()
