"""The C side of the Fortran bindings: what src/fortran/bindings.c and sections.c include (tools/generate_fortran.py).

Every procedure takes addresses, as gfortran and its like pass arguments: mpif.h, the module mpi and mpi_f08 share it wherever the buffer comes as
an address. F(x) is the linker name mpi_x_ (or pmpi_x_), C(X) the C function MPI_X (or PMPI_X).
"""

import re

from fortran_arguments import STRINGS_OUT, STRIPPED, choices, fortran_name

VALUE_TYPES = {"int": "MPI_Fint", "MPI_Aint": "MPI_Aint", "MPI_Count": "MPI_Count", "MPI_Offset": "MPI_Offset"}


def parameter(a):
    """The C declaration of the argument as Fortran passes it."""
    if a.kind in ("choice", "pointer_out"):
        return f"void* {a.name}"
    if a.kind in ("string", "string_out"):
        return f"char* {a.name}"
    if a.kind in ("status", "statuses") or a.handle:
        return f"MPI_Fint* {a.name}"
    return f"{VALUE_TYPES[a.c_type]}* {a.name}"


def parameters(function):
    strings = [a for a in function.arguments if a.kind in ("string", "string_out")]
    return ", ".join([parameter(a) for a in function.arguments] + ["MPI_Fint* ierror"] + [f"size_t {a.name}_length" for a in strings])


def length_of(function, a):
    """How many handles the array holds, and whether they are looked at at all."""
    names = {x.name for x in function.arguments}
    if a.name in ("sendtypes", "recvtypes"):
        neighbor = "neighbor" in function.name.lower()
        which = "tmpi_neighbors" if neighbor else "tmpi_peers"
        extra = f", {int(a.name == 'sendtypes')}" if neighbor else ""
        count = f"{which}(comm_from(*comm){extra})"
        return f"sendbuf_c == MPI_IN_PLACE ? 0 : {count}" if a.name == "sendtypes" and not neighbor else count
    if a.name == "array_of_datatypes":
        return "*max_datatypes"
    return "*incount" if "incount" in names else "*count"


def convert(function, a):
    """(statements before, expression passed, statements after)."""
    n, c = a.name, f"{a.name}_c"
    kind = a.handle.lower() if a.handle else ""
    if a.kind in ("value", "logical"):
        return [], f"*{n}", []
    if a.kind in ("array", "out", "logical_array", "logical_out"):
        return [], f"(int(*)[3]){n}" if n == "ranges" else n, []
    if a.kind == "choice":
        return [f"void* const {c} = choice({n});"], c, []
    if a.kind == "weights":
        return [], f"weights_at({n})", []
    if a.kind == "status":
        return [], f"status_at({n})", []
    if a.kind == "statuses":
        return [], f"status_at({n})", []
    if a.kind == "pointer_out":
        return [], n, []
    if a.kind == "handle":
        return [], f"{kind}_from(*{n})", []
    if a.kind == "handle_out":
        return [f"MPI_{a.handle} {c} = NULL;"], f"&{c}", [f"if ({c} != NULL) *{n} = tmpi_number({c});"]
    if a.kind == "handle_update":
        after = f"completed({n}, {c}, sections);" if kind == "request" else f"emptied({n}, {c});"
        return [f"MPI_{a.handle} {c} = {kind}_from(*{n});"], f"&{c}", [after]
    if a.kind == "handles" and a.const and not is_blocking(function): # it is read until the call has completed
        before = [f"const MPI_Count {c}_count = {length_of(function, a)};",
                  f"const MPI_{a.handle}* const {c} = tmpi_lasting_types({c}_count, {n});"]
        return before, c, []
    if a.kind == "handles":
        before = [f"HANDLES(MPI_{a.handle}, {c}, {length_of(function, a)});"]
        out = n == "array_of_datatypes"
        if not out:
            before.append(f"for (MPI_Count i = 0; i < {c}_count; i++) {c}[i] = {kind}_from({n}[i]);")
        else:
            before.append(f"for (MPI_Count i = 0; i < {c}_count; i++) {c}[i] = NULL;")
        after = []
        if out:
            after.append(f"for (MPI_Count i = 0; i < {c}_count; i++) if ({c}[i] != NULL) {n}[i] = tmpi_number({c}[i]);")
        elif not a.const:
            done = f"completed(&{n}[i], {c}[i], sections);" if kind == "request" else f"emptied(&{n}[i], {c}[i]);"
            after.append(f"for (MPI_Count i = 0; i < {c}_count; i++) {done}")
        return before, c, after + [f"HANDLES_END({c});"]
    if a.kind == "string":
        return [f"STRING({c}, {n}, {n}_length, {int(n in STRIPPED)});"], c, [f"STRING_END({c});"]
    if a.kind == "string_out":
        return [f'char {c}[{STRINGS_OUT[n]} + 1] = "";'], c, [f"if (outcome == MPI_SUCCESS) string_out({n}, {n}_length, {c});"]
    if a.kind == "index_out":
        return [f"int {c} = MPI_UNDEFINED;"], f"&{c}", [f"*{n} = {c} == MPI_UNDEFINED ? {c} : {c} + 1;"]
    if a.kind == "indices_out":
        return [], n, [f"for (int i = 0; i < *outcount; i++) {n}[i]++;"]
    raise ValueError(f"{function.name}: no conversion for {a}")


def completes_requests(function):
    return any(a.handle == "Request" and a.kind in ("handle_update", "handles") and not a.const for a in function.arguments)


# The functions that look at requests and leave them: what they find complete has to be in the program's buffers.
LEFT_COMPLETE = {
    "MPI_Request_get_status": "if (*flag) found_complete(*request, sections);",
    "MPI_Request_get_status_all":
        "for (MPI_Count i = 0; *flag && i < *count; i++) found_complete(array_of_requests[i], sections);",
    "MPI_Request_get_status_any":
        "if (*flag && indx_c != MPI_UNDEFINED) found_complete(array_of_requests[indx_c], sections);",
    "MPI_Request_get_status_some":
        "for (int i = 0; i < *outcount; i++) found_complete(array_of_requests[array_of_indices[i] - 1], sections);",
}


def binding(function):
    """The procedure that takes addresses."""
    before, passed, after = [], [], []
    if completes_requests(function) or function.name in LEFT_COMPLETE:
        before.append("const uint64_t sections = sections_before();")
    for a in function.arguments:
        b, p, t = convert(function, a)
        before += b
        passed.append(p)
        after += t
    name = function.name.removeprefix("MPI_")
    lines = [f"void F({fortran_name(function)})({parameters(function)}) {{"]
    lines += ["  " + line for line in before]
    call = f"C({name})({', '.join(passed)})"
    if name == "Request_free":
        call = f"sections != 0 && tmpi_section_waits(*request) ? tmpi_section_freed() : {call}"
    lines.append(f"  const int outcome = {call};")
    lines += ["  " + line for line in after]
    if function.name in LEFT_COMPLETE:
        lines.append(f"  if (outcome == MPI_SUCCESS) {{ {LEFT_COMPLETE[function.name]} }}")
    lines += ["  finish(ierror, outcome);", "}"]
    if not choices(function):
        lines.append(f"F08({fortran_name(function)});")
    if any(a.kind == "pointer_out" for a in function.arguments) and not function.large: # an INTEGER and a TYPE(C_PTR) that take an address
        lines.append(f"F_ALIAS({fortran_name(function)}_cptr, {fortran_name(function)});")
    return "\n".join(lines) + "\n"


def descriptor_parameters(function):
    """As mpi_f08 passes them where a buffer is type(*), dimension(..): descriptors for buffers and strings."""
    return ", ".join(f"const Descriptor* {a.name}" if a.kind in ("choice", "string") else parameter(a) for a in function.arguments)


def counted(function, a):
    """(count, datatype) of a buffer, None if it is an address alone; the arguments that follow it."""
    rest = function.arguments[function.arguments.index(a) + 1:]
    types = [x for x in rest if x.handle == "Datatype"]
    if not types:
        return None
    before = rest[:rest.index(types[0])]
    counts = [x for x in before if re.search(r"count", x.name)]
    return (counts[0] if counts else None), types[0]


def shape(function):
    """How a section that is not contiguous travels: 'address' (there is no data, or the function takes only what is contiguous), 'type' (each
    buffer has a count and a datatype of its own and nothing is split), 'blocks' (split among ranks), 'copy' (reductions, packed data)."""
    name = function.name.removeprefix("MPI_").removesuffix("_c").lower()
    pairs = [counted(function, a) for a in choices(function)]
    if all(p is None for p in pairs):
        return "address"
    if has_window(function) and all(p is not None and p[0] is not None for p in pairs): # accumulating, too, takes datatypes that were made
        return "type"
    if any(a.handle == "Op" for a in function.arguments) or any(p is None or p[0] is None for p in pairs):
        return "copy"
    if re.search(r"pack", name):
        return "copy"
    if re.search(r"gather|scatter|alltoall|precv|psend", name):
        return "blocks"
    return "type"


def has_window(function):
    return any(a.handle == "Win" for a in function.arguments)


def is_blocking(function):
    """Its buffers are done with when it returns: no request tells, and no epoch of a window."""
    if has_window(function):
        return False
    return not any(a.handle == "Request" and a.kind == "handle_out" for a in function.arguments) and not re.search(r"_begin", function.name)


def is_split_or_reduced_later(function):
    """Nonblocking, by a request that is gone when it is complete: copies of sections can wait for that."""
    if is_blocking(function) or has_window(function) or re.search(r"_init|_begin", function.name):
        return False
    return shape(function) in ("blocks", "copy")


def copied(function, a):
    """The call that copies a section; of a reduction it says how many elements there have to be."""
    pair = counted(function, a) or (next((x for x in function.arguments if x.name == "count"), None),
                                    next((x for x in function.arguments if x.handle == "Datatype"), None))
    if any(x.handle == "Op" for x in function.arguments) and pair[0] is not None and pair[0].kind == "value" and pair[0].name == "count":
        return f"tmpi_section_copy_of({a.name}, *{pair[0].name}, datatype_from(*{pair[1].name}), {int(not a.const)})"
    return f"tmpi_section_copy({a.name}, {int(not a.const)})"


def significant(function, a):
    """Whether the calling rank's operation uses the buffer, in C; empty if every rank's does (MPI report, 6.5 to 6.9: at the root only)."""
    if "root" not in {x.name for x in function.arguments} or a.name not in ("sendbuf", "recvbuf"):
        return ""
    at_root = (a.name == "sendbuf") == ("scatter" in function.name.lower())
    return f"{'tmpi_at_root' if at_root else 'tmpi_at_leaf'}(comm_from(*comm), *root)"


def raised_on(function):
    """The call that raises the error of a refused section on the object of the function."""
    for handle, suffix in (("Comm", ""), ("Win", "_win"), ("File", "_file")):
        for a in function.arguments:
            if a.handle == handle:
                return f"tmpi_section_error{suffix}({handle.lower()}_from(*{a.name}))"
    return "tmpi_section_error(MPI_COMM_SELF)"


def section_call(function):
    """The part of a descriptor procedure that is run for a section that is not contiguous."""
    kind, later = shape(function), is_split_or_reduced_later(function)
    ordinary = {a.name: a.name for a in function.arguments}
    for a in choices(function):
        ordinary[a.name] = f"{a.name}_s.address"
    lines, ends = [], []
    for a in choices(function):
        begin = len(lines)
        if kind == "type" or kind == "blocks" and not is_blocking(function):
            count, datatype = counted(function, a)
            if kind == "type":
                large = int(count.c_type == "MPI_Count")
                lines.append(f"Section {a.name}_s = tmpi_section_type({a.name}, {'*' + count.name}, datatype_from(*{datatype.name}));")
                lines.append(f"{'MPI_Count' if large else 'MPI_Fint'} {a.name}_n = ({'MPI_Count' if large else 'MPI_Fint'}){a.name}_s.count;")
                ordinary[count.name] = f"&{a.name}_n"
            elif datatype.kind == "handles":
                lines.append(f"Section {a.name}_s = {copied(function, a) if later else f'tmpi_section_refused({a.name})'};")
            else:
                blocks = "tmpi_section_blocks_or_copy" if later else "tmpi_section_blocks"
                written = f", {int(not a.const)}" if later else ""
                lines.append(f"Section {a.name}_s = {blocks}({a.name}, datatype_from(*{datatype.name}){written});")
            if datatype.kind != "handles":
                ordinary[datatype.name] = f"&{a.name}_s.datatype"
        elif is_blocking(function) or later:
            lines.append(f"Section {a.name}_s = {copied(function, a)};")
        else:
            lines.append(f"Section {a.name}_s = tmpi_section_refused({a.name});")
        if used := significant(function, a):
            pair = counted(function, a)
            unused = f"tmpi_section_unused({a.name}, {'0' if pair is None or pair[1].kind == 'handles' else '*' + pair[1].name})"
            lines[begin] = lines[begin].replace(" = ", f" = !{used} ? {unused} : ", 1)
        end = "tmpi_section_later(outcome, *request, " if later else "tmpi_section_end("
        ends.append(f"{end}&{a.name}_s, {a.name}, {int(not a.const)});")
    refused = " || ".join(f"{a.name}_s.error" for a in choices(function))
    lines.append(f"MPI_Fint outcome = {refused} ? {raised_on(function)} : MPI_SUCCESS;")
    strings = "".join(f", {a.name}->elem_len" for a in function.arguments if a.kind == "string")
    for a in function.arguments:
        if a.kind == "string":
            ordinary[a.name] = f"{a.name}->base_addr"
    call = ", ".join(ordinary[a.name] for a in function.arguments)
    lines.append(f"if (outcome == MPI_SUCCESS) F({fortran_name(function)})({call}, &outcome{strings});")
    return lines + ends + ["finish(ierror, outcome);"]


def descriptor_binding(function):
    """The procedure of mpi_f08 for a function with choice buffers. A contiguous one costs a look at its descriptor."""
    name = fortran_name(function)
    address = "contiguous" if shape(function) != "address" else "always"
    tests = " && ".join(f"{address}({a.name})" for a in choices(function))
    passed = ", ".join(f"{a.name}->base_addr" if a.kind in ("choice", "string") else a.name for a in function.arguments)
    strings = "".join(f", {a.name}->elem_len" for a in function.arguments if a.kind == "string")
    base = f"void F({name}_f08ts)({descriptor_parameters(function)}, MPI_Fint* ierror)"
    fast = f"F({name})({passed}, ierror{strings});"
    if address == "always":
        return f"{base} {{\n  {fast}\n}}\n"
    slow = "\n".join("  " + line for line in section_call(function))
    slow_name = f"slow_{name}"
    names = ", ".join([a.name for a in function.arguments] + ["ierror"])
    return (f"COLD void {slow_name}({descriptor_parameters(function)}, MPI_Fint* ierror) {{\n{slow}\n}}\n"
            f"{base} {{\n  if (LIKELY({tests})) {{\n    {fast}\n    return;\n  }}\n  {slow_name}({names});\n}}\n")


def declaration(function):
    return f"void F({fortran_name(function)})({parameters(function)});\n"
