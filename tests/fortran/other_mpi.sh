#!/bin/sh
# The same programs with MPICH's mpif.h and modules, where Debian's MPICH is installed: $1 is the directory of this script. What they leave out
# under OTHER_MPI MPICH 4.0 does not have, or does differently; with sections of three dimensions and by_hand in mpi_f08 it, or gfortran, fails.
set -eu
command -v mpif90.mpich > /dev/null && command -v mpirun.mpich > /dev/null || {
  echo "no MPICH here"
  exit 77
}
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
run() {
  name=$1
  shift
  mpif90.mpich -O0 -w -cpp -ffree-line-length-none -fallow-argument-mismatch -DOTHER_MPI "$@" "$sources/checks.f90" "$sources/$name.F90" -o program
  got=$(timeout 60 mpirun.mpich -n 2 ./program 2>&1) || true
  [ "$got" = "passed with 2 ranks" ] || {
    echo "FAILED: $name $*: $got"
    exit 1
  }
}
sources=$1
run by_hand
run by_hand -DMPI_MODULE=mpi
run windows
echo passed
