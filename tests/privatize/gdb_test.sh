#!/bin/sh
# gdb_test.sh RUN PROGRAM SCRIPT: gdb stops in a rank's function, shows the rank's variables, and `rank N` selects another rank's.
command -v gdb >/dev/null || exit 77
commands=$(mktemp) && trap 'rm -f "$commands"' EXIT
cat >"$commands" <<END
set pagination off
set breakpoint pending on
break all_ready if rank == 1
run $2 3
bt 2
print my_static
ranks
rank
rank 2
print my_global
rank 0
print my_global
rank all
print my_static
END
output=$(timeout 500 gdb -nx -q -batch -x "$3" -x "$commands" "$1" 2>&1)
for wanted in 'all_ready (rank=1) at .*debugged.c' '#1 .* main (argc=' '\$1 = 1.5' 'rank 2: ' 'rank 1, .*debugged' '\$2 = 1002' \
  '\$3 = 1000' '\$4 = 1.5'; do
  if ! printf '%s\n' "$output" | grep -q "$wanted"; then
    printf 'missing in the output of gdb: %s\n%s\n' "$wanted" "$output"
    case $output in *ptrace*"not permitted"*) exit 77 ;; esac
    exit 1
  fi
done
