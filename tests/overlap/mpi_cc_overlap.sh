#!/bin/sh
# How MPI-CC-overlap (CARV-ICS-FORTH) uses an MPI: "mpi_path" names a prefix with a slash at its end; programs are made by
# "make all mpicc=PREFIX/bin/mpicc", and started by "PREFIX//bin/mpirun ARGUMENTS PROGRAM.out WORDS" through a shell, by a name without a
# directory or by an absolute one. What they print on standard output is read word by word; standard error is not looked at, but the exit
# code is.
. "$(dirname "$0")/../wrappers/lib.sh"
sources=$(cd "$here/../../bench" && pwd)
prefix=$(dirname "$bin")/
unset TMPI_N TMPI_NODES TMPI_NET 2>/dev/null || true

build() {
  printf 'all:\n\t$(mpicc) %s/issend_overlap.c -o issend-overlap.out -lm\n' "$sources" > Makefile
  make -s all "mpicc=${prefix}bin/mpicc"
}

# Lines "issend SIZE SECONDS SECONDS SHARE", shares between 0 and 1.
check_lines() {
  printf '%s\n' "$1" | awk '$1 == "issend" { lines++; if (NF != 5 || $3 <= 0 || $4 <= 0 || $5 < 0 || $5 > 1) exit 1 } END { exit lines != 2 }' ||
    fail "'$1' is not two lines with times and shares"
}

t_by_name() {
  build
  got=$(sh -c "${prefix}/bin/mpirun -n 2 issend-overlap.out --sizes 1K,64K --iterations 5" 2> /dev/null) || fail "exit code $?"
  check_lines "$got"
}

t_by_path() {
  build
  got=$(sh -c "${prefix}/bin/mpirun -np 2 $PWD/issend-overlap.out --sizes 1K,64K --iterations 5" 2> /dev/null) || fail "exit code $?"
  check_lines "$got"
}

t_two_nodes() {
  build
  got=$(sh -c "${prefix}/bin/mpirun -np 2 --nodes 2 --net sim:fdr-ib -x COLOUR=blue ./issend-overlap.out --sizes 1K,64K --iterations 5") || fail "exit code $?"
  check_lines "$got"
}

run_cases
