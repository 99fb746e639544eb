#!/bin/sh
# How a Fortran program ends, and what its user reads. $1: directory of tmpirun, $2: the program.
. "$(dirname "$0")/../wrappers/lib.sh"
ends=$2

# ends_with CODE PATTERN WAY [OPTION of tmpirun]: the job ends with this code, and prints a line that matches.
ends_with() {
  status=0
  got=$(timeout 60 tmpirun -n 2 ${4-} "$ends" "$3" 2>&1) || status=$?
  [ "$status" -eq "$1" ] || fail "$3: exit code $status, not $1: $got"
  printf '%s\n' "$got" | grep -Eq -e "$2" || fail "$3 printed '$got', which does not match '$2'"
}

t_stop() {
  ends_with 0 "before stop +0" stop
  ends_with 3 "rank 1 on host .* ended with exit code 3$" stop3
  ends_with 0 "STOP all done" stoptext
  ends_with 0 "^$" exit
  ends_with 4 "rank 1 on host .* ended with exit code 4 without having called MPI_Finalize" error
}

t_lines_are_whole() {
  ends_with 0 "^part of rank 0$" partial
  ends_with 0 "^part of rank 1$" partial
}

t_floating_point_notes_are_a_ranks_own() {
  ends_with 0 "signalling: IEEE_INVALID_FLAG *$" fpe
  ends_with 0 "signalling: IEEE_DIVIDE_BY_ZERO *$" fpe
}

t_runtime_errors() {
  ends_with 2 "Index '5' of dimension 1 of array 'a' above upper bound of 3" bounds
  ends_with 2 "at .*ends.F90:[0-9]+" bounds
  ends_with 2 "rank 1 on host .* ended with exit code 2" bounds
  ends_with 2 "Cannot open file '/nonexistent/x'" read
  ends_with 2 "Attempt to DEALLOCATE unallocated 'a'" alloc
}

t_crashes_name_the_rank() {
  ends_with 139 "rank 1 on host .*: segmentation fault \(SIGSEGV at address 0x40\)" segv
  ends_with 139 "#0 (write_to|MAIN__).*\(ends\)" segv
  ends_with 139 "rank 1 on host .* overflowed its stack of 8192 KiB .*--stack-size 16M" overflow
  ends_with 134 "rank 1 on host .*: aborted" abort
}

t_bad_buffers_and_procedures() {
  ends_with 1 "rank 1 on .*: MPI_Send failed: MPI_ERR_BUFFER .*the buffer is NULL, but count is 10" null
  ends_with 1 "operators of 64 different Fortran procedures" operators
}

# What no module can find when compiling is an error of MPI with a sentence.
t_what_modules_cannot_find() {
  ends_with 0 "^222 of 222 are refused$" numbers
  ends_with 0 "^all are refused$" buffers
  ! printf '%s\n' "$got" | grep 'call' || fail "a buffer that is not allocated: $got"
  ends_with 0 "^all are refused$" kinds
  ! printf '%s\n' "$got" | grep 'call' || fail "an argument of another type: $got"
}

# line TEXT: the line of ends.F90 that ends with the comment TEXT.
line() {
  grep -n "! $1\$" "$(dirname "$0")/ends.F90" | cut -d: -f1
}

# Calls are the program's: reports have its lines, and nothing of what the bindings do for themselves.
t_reports_name_the_programs_lines() {
  got=$(tmpirun -n 2 --profile "$ends" report 2>&1)
  for call in "Bcast +ends.F90:$(line section) in reported" "Allreduce +ends.F90:$(line 'by mpif.h') in old_way" "Init +ends.F90:[0-9]+ in ends"; do
    printf '%s\n' "$got" | grep -Eq -e "MPI_$call" || fail "no line of MPI_$call in the profile: $got"
  done
  ! printf '%s\n' "$got" | grep -Eq 'MPI_Type_|bindings|sections\.' || fail "the profile shows the bindings: $got"
  tmpirun -n 2 --trace trace.json "$ends" report 2> trace.log
  grep -q "\"at\":\"ends.F90:$(line section)\"" trace.json || fail "no line of the broadcast in the trace"
  ends_with 0 "2 communicators made by MPI_Comm_dup at ends.F90:$(line 'not freed')\$" report --check
  ! printf '%s\n' "$got" | grep -q 'datatype' || fail "the bindings' datatype is reported: $got"
  ends_with 1 "MPI_Isend at ends.F90:$(line pending)" misuse --check
}

run_cases
