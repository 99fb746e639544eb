#!/bin/sh
# tmpifort as users and build systems drive it: both forms, separate compilation, Fortran and C together, wrong programs.
. "$(dirname "$0")/lib.sh"

write_fortran() {
  cp "$here/hello.f90" "$here/hello_fixed.f" .
}

t_both_forms_and_stages() {
  write_fortran
  tmpifort -O2 hello.f90 -o hello
  check_hello ./hello
  tmpifort -c hello_fixed.f
  tmpifort hello_fixed.o -o fixed
  check_hello ./fixed
  ln -s "$bin/tmpifort" mpif77
  ./mpif77 hello_fixed.f -o fixed
  check_hello ./fixed
}

# The names that the ABI gives: of the wrapper, and of the library, which is tmpi's whatever is found under that name.
t_names_of_the_abi() {
  write_fortran
  ln -s "$bin/tmpifort" mpifort_abi
  ./mpifort_abi hello.f90 -o hello
  readelf -dW hello | grep -q 'NEEDED.*\[libmpifort_abi.so.1\]' || fail "the program does not name libmpifort_abi.so.1"
  check_hello ./hello
  mkdir other
  ./mpifort_abi -c hello_fixed.f
  nm -u hello_fixed.o | sed -n 's/^ *U \(p*mpi_.*\)/void \1(void) { __builtin_trap(); }/p' > other.c
  for name in libmpifort_abi.so.0 libmpifort_abi.so.1; do
    gcc -shared -fPIC other.c -o "other/$name" "-Wl,-soname,$name"
    gfortran hello_fixed.o -o fixed "other/$name" "-Wl,-rpath,$PWD/other"
    readelf -dW fixed | grep -q "NEEDED.*\[$name\]" || fail "the program does not name $name"
    expect "rank 0 of 2, seen 6
rank 1 of 2, seen 9" sh -c "tmpirun -n 2 ./fixed | sort"
  done
}

t_options_of_gfortran() {
  write_fortran
  for options in -O0 "-O3 -march=native" -flto "-fopenmp -frecursive" "-g -fcheck=all -fbacktrace" "-std=f2018" "-fpic -fno-common" \
    "-fstack-arrays -finit-real=snan" "-funroll-loops -ffast-math" "-cpp -DX=1" "-fsanitize=undefined"; do
    # shellcheck disable=SC2086 # options are words
    tmpifort $options hello.f90 -o hello
    check_hello ./hello
  done
  expect_failure "static-libgfortran links libgfortran.a" tmpifort -static-libgfortran hello.f90
  expect_failure "static links a static program" tmpifort -static hello.f90
}

# mpif.h lies where a fixed form, a free form and a C preprocessor can read it.
t_include_in_every_form() {
  printf '      include "mpif.h"\n      print *, MPI_VERSION\n      end\n' > a.f
  printf 'include "mpif.h"\nprint *, MPI_VERSION\nend\n' > a.f90
  printf '#include "mpif.h"\n      print *, MPI_VERSION\n      end\n' > a.F
  for file in a.f a.f90 a.F; do
    tmpifort -std=legacy $file -o a
    expect_match "^ +5$" ./a
  done
}

t_fortran_and_c_together() {
  cat > main.c << 'END'
#include <mpi.h>
#include <stdio.h>
void sum_(MPI_Fint* comm, MPI_Fint* value);
int from_c(MPI_Fint comm) {
  int rank;
  MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
  return rank;
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  int rank;
  MPI_Comm_rank(copy, &rank);
  MPI_Fint comm = MPI_Comm_c2f(copy), value = rank + 1;
  sum_(&comm, &value);
  printf("%d\n", value);
  MPI_Comm_free(&copy);
  return MPI_Finalize();
}
END
  cat > sum.f90 << 'END'
subroutine sum(comm, value)
  use mpi_f08
  interface
    integer(c_int) function from_c(comm) bind(C)
      use, intrinsic :: iso_c_binding
      integer(c_int), value :: comm
    end function
  end interface
  type(MPI_Comm) :: comm
  integer :: value, me
  call MPI_Comm_rank(comm, me)
  if (from_c(comm%MPI_VAL) /= me) error stop 'another communicator'
  call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, comm)
end subroutine
END
  tmpicc -c main.c
  tmpifort -c sum.f90
  tmpifort main.o sum.o -o both
  expect "6
6
6" tmpirun -n 3 ./both
  tmpicc main.o sum.o -ltmpifort -lgfortran -o both
  expect "3
3" tmpirun -n 2 ./both
  # A library of the user's, whose MPI_IN_PLACE is the program's.
  tmpifort -shared sum.o -o libsum.so
  tmpicc main.o -L. -lsum -Wl,-rpath,"$PWD" -o both
  expect "10
10
10
10" tmpirun -n 4 ./both
  expect 1 ./both
}

# A profiling library written in C sees the calls of Fortran programs; one in Fortran takes the Fortran names.
t_profiling_libraries() {
  write_fortran
  cat > count.c << 'END'
#include <mpi.h>
#include <stdio.h>
static int barriers;
int MPI_Barrier(MPI_Comm comm) { barriers++; return PMPI_Barrier(comm); }
int MPI_Finalize(void) { printf("barriers %d\n", barriers); fflush(stdout); return PMPI_Finalize(); }
END
  tmpifort hello.f90 count.c -o hello
  expect "barriers 1
rank 0 of 1, seen 6" sh -c "./hello | sort"
  tmpicc -shared -fPIC count.c -o libcount.so
  tmpifort hello.f90 -o hello
  expect "barriers 1
barriers 1" sh -c "tmpirun -n 2 -x LD_PRELOAD=$PWD/libcount.so ./hello | grep barriers"
  cat > own.f90 << 'END'
subroutine MPI_BARRIER(comm, ierr)
  integer :: comm, ierr
  print '(a)', 'ours'
  call PMPI_BARRIER(comm, ierr)
end subroutine
END
  tmpifort hello_fixed.f own.f90 -o fixed
  expect "ours
rank 0 of 1, seen 6" ./fixed
}

# A section of which C would make a vector type goes to MPI where it lies: one element of a datatype of its shape, no copy.
t_sections_are_not_copied() {
  cat > where.c << 'END'
#include <mpi.h>
#include <stdio.h>
static const char* first;
static int as_it_lies;
void begins_at_(const void* element) { first = element; }
static void look(const void* buf, int count, MPI_Datatype type, int size, int extent) {
  MPI_Aint lb, true_extent;
  int bytes;
  PMPI_Type_size(type, &bytes);
  PMPI_Type_get_true_extent(type, &lb, &true_extent);
  as_it_lies += buf == first && count == 1 && lb == 0 && bytes == size && true_extent == extent;
}
int MPI_Isend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  look(buf, count, type, 6 * 8, (5 * 5 + 1) * 8);
  return PMPI_Isend(buf, count, type, to, tag, comm, request);
}
int MPI_Recv(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  look(buf, count, type, 6 * 8, (5 * 5 + 1) * 8);
  return PMPI_Recv(buf, count, type, from, tag, comm, status);
}
int MPI_Bcast(void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  look(buf, count, type, 4 * 8, (5 + 2 + 1) * 8);
  return PMPI_Bcast(buf, count, type, root, comm);
}
int MPI_Finalize(void) {
  printf("%d where they lie\n", as_it_lies);
  return PMPI_Finalize();
}
END
  cat > sections.f90 << 'END'
use mpi_f08
implicit none
real(8) :: a(5, 6), b(5, 6)
type(MPI_Request) :: request
integer :: i
a = reshape([(i, i=1, 30)], [5, 6])
b = 0
call MPI_Init()
call begins_at(a(2, 1))
call MPI_Isend(a(2, :), 6, MPI_REAL8, 0, 1, MPI_COMM_SELF, request)
call begins_at(b(4, 1))
call MPI_Recv(b(4, :), 6, MPI_REAL8, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
call MPI_Wait(request, MPI_STATUS_IGNORE)
if (any(b(4, :) /= a(2, :)) .or. count(b /= 0) /= 6) error stop 'the wrong elements'
call begins_at(a(2, 3))
call MPI_Bcast(a(2:4:2, 3:4), 4, MPI_REAL8, 0, MPI_COMM_SELF)
call MPI_Finalize()
end
END
  tmpifort sections.f90 where.c -o sections
  expect "3 where they lie" ./sections
}

# As examples/README.md says.
t_examples() {
  cp "$here"/../../examples/* .
  make fortran
  for program in heat_f08 heat_mpi heat_mpif; do
    expect_match "^check  passed" tmpirun -n 16 ./$program
    expect_match "^check  passed" ./$program 64 64 20
  done
  expect_match "^check  passed" tmpirun -n 4 ./spectral
  expect_match "^check  passed" tmpirun -n 2 -x OMP_NUM_THREADS=2 ./spectral 64 5
}

# What the modules find when compiling.
t_wrong_programs_do_not_compile() {
  wrong "Type mismatch|no specific subroutine" 'use mpi_f08; call MPI_Barrier(3); end'
  wrong "no specific subroutine" 'use mpi_f08; integer :: a; call MPI_Send(a, 1, MPI_INTEGER, 0, 0, MPI_INTEGER); end'
  wrong "no specific subroutine" 'use mpi_f08; integer :: a; call MPI_Send(a, 1.5, MPI_INTEGER, 0, 0, MPI_COMM_WORLD); end'
  wrong "no specific subroutine" 'use mpi_f08; integer :: a, s(8); call MPI_Recv(a, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, s); end'
  wrong "Can.t convert|Cannot convert" 'use mpi_f08; type(MPI_Comm) :: c; c = MPI_INTEGER; end'
  wrong "variable definition context|no specific subroutine" 'use mpi_f08; call MPI_Comm_rank(MPI_COMM_WORLD, 3); end'
  wrong "no specific subroutine" 'use mpi; integer :: r; call MPI_Comm_rank(MPI_COMM_WORLD, r); end'
  wrong "no specific subroutine" 'use mpi; real :: r; integer :: e; call MPI_Comm_rank(MPI_COMM_WORLD, r, e); end'
  wrong "no specific subroutine" 'use mpi; integer :: a, e; call MPI_Bcast(a, MPI_INTEGER, 0, MPI_COMM_WORLD, e); end'
  wrong "no specific subroutine|has no IMPLICIT type" 'use mpi_f08; implicit none; external f; type(MPI_Op) :: o; call MPI_Op_create(3, .true., o); end'
  # Not there yet: the linker names it, as in C.
  printf 'use mpi_f08\ncall MPI_No_such()\nend\n' > none.f90
  expect_failure "mpi_no_such_" tmpifort none.f90
}

wrong() {
  printf '%s\n' "$2" | tr ';' '\n' > wrong.f90
  expect_failure "$1" tmpifort -c wrong.f90
}

t_questions() {
  expect gfortran tmpifort --showme:command
  expect "tmpifort tmpi" tmpifort --showme:libs
  expect_match "^gfortran -I[^ ]+ -I[^ ]+/tmpi/modules .* -fallow-argument-mismatch .* -ltmpifort -ltmpi" tmpifort -show
  expect_match "^flang " env TMPI_FC=flang tmpifort -show
  expect_match "^ifx " tmpifort -fc=ifx -show
  expect_failure "wrapper itself" env TMPI_FC=mpif90 tmpifort a.f90
  write_fortran
  # shellcheck disable=SC2046 # options are words
  gfortran $(tmpifort --showme:compile) hello.f90 -o hello $(tmpifort --showme:link)
  check_hello ./hello
}

# Modules for another compiler, which here is gfortran under another name.
t_modules_for_another_compiler() {
  write_fortran
  tree=$PWD/tree
  mkdir -p "$tree/bin" "$tree/lib" other
  cp "$bin/tmpifort" "$bin/tmpi-fortran-modules" "$tree/bin"
  ln -s "$(dirname "$bin")/include" "$tree/include"
  cp -R "$(dirname "$bin")/lib/." "$tree/lib"
  rm -rf "$tree/lib/tmpi/modules"
  ln -s "$(command -v gfortran)" other/otherfortran
  ln -s "$(command -v gfortran)" other/a-gfortran-1
  PATH=$PWD/other:$PATH
  expect_failure "mpi_f08.mod" "$tree/bin/tmpifort" -fc=otherfortran -c hello.f90
  # The module files of another compiler, or none: a sentence of ours after the compiler's.
  mkdir "$tree/lib/tmpi/modules"
  for module in mpi mpi_f08 mpi_f08_types; do echo "not of this compiler" > "$tree/lib/tmpi/modules/$module.mod"; done
  expect_failure "gfortran's, and a module file.* tmpi-fortran-modules otherfortran$" "$tree/bin/tmpifort" -fc=otherfortran -c hello.f90
  expect_failure "not a GNU Fortran module file" "$tree/bin/tmpifort" -c hello.f90
  # Of no gfortran, whatever its name.
  "$tree/bin/tmpifort" -fc=a-gfortran-1 -c hello.f90 2> said && exit 1
  grep -q "not a GNU Fortran module file" said
  if grep -q tmpi-fortran-modules said; then exit 1; fi
  expect_match "modules for otherfortran" "$tree/bin/tmpi-fortran-modules" otherfortran
  "$tree/bin/tmpifort" -fc=otherfortran hello.f90 -o hello
  expect "" "$tree/bin/tmpifort" -fc=otherfortran -c hello.f90
  check_hello ./hello
  expect_failure "does not compile the modules" "$tree/bin/tmpi-fortran-modules" false
}

t_autoconf() {
  cat > configure.ac << 'END'
AC_INIT([hello], [1.0])
AC_PROG_FC
AC_FC_FREEFORM
AC_LANG([Fortran])
AC_FC_MODULE_EXTENSION
AC_SEARCH_LIBS([MPI_INIT], [mpi], [], [AC_MSG_ERROR([no MPI])])
AC_MSG_CHECKING([for mpi_f08])
AC_LINK_IFELSE([AC_LANG_PROGRAM([], [use mpi_f08
  call MPI_Init()])], [AC_MSG_RESULT([yes])], [AC_MSG_ERROR([no mpi_f08])])
AC_FC_WRAPPERS
AC_RUN_IFELSE([AC_LANG_PROGRAM([], [use mpi])], [], [AC_MSG_ERROR([cannot run])])
AC_OUTPUT
END
  cp /usr/share/automake-*/config.guess /usr/share/automake-*/config.sub . # AC_FC_WRAPPERS asks for the host
  autoconf
  ./configure FC=tmpifort CC=tmpicc > configure.log || { cat configure.log config.log; exit 1; }
  grep -q 'cross compiling... no' configure.log || fail "configure thinks it cross-compiles"
}

run_cases
