#!/bin/sh
# Static archives, the user's own shared libraries, a profiling library, main in a library.
. "$(dirname "$0")/lib.sh"

write_library() {
  cat > physics.c << 'END'
#include <mpi.h>
static int calls;
int physics_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  calls += 1;
  return rank * 100 + calls;
}
END
  cat > main.c << 'END'
#include <mpi.h>
#include <stdio.h>
int physics_rank(void);
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d\n", physics_rank());
  MPI_Finalize();
  return 0;
}
END
}

check_physics() {
  expect 1 "$1"
  expect "1
101
201" sh -c "tmpirun -n 3 $1 | sort -n"
}

t_static_archive() {
  write_library
  tmpicc -c physics.c
  ar rcs libphysics.a physics.o
  tmpicc main.c libphysics.a -o direct
  check_physics ./direct
  tmpicc main.c -L. -lphysics -o by_name
  check_physics ./by_name
  tmpicc -o whole main.c -Wl,--whole-archive libphysics.a -Wl,--no-whole-archive
  check_physics ./whole
}

t_own_shared_library() {
  write_library
  tmpicc -shared physics.c -o libphysics.so
  tmpicc main.c -L. -lphysics -Wl,-rpath,"$PWD" -o program
  check_physics ./program
  readelf -lW libphysics.so | grep -q INTERP && fail "a library with a program's start code"
  readelf -dW program | grep -q 'NEEDED.*libmpi_abi.so.1' || fail "the program does not name libmpi_abi.so.1"
}

t_shared_library_in_two_steps() {
  write_library
  tmpicc -fPIC -O2 -c physics.c
  tmpicc -shared -Wl,-soname,libphysics.so.1 physics.o -o libphysics.so.1.0
  ln -s libphysics.so.1.0 libphysics.so.1
  tmpicc main.c libphysics.so.1.0 -Wl,-rpath,'$ORIGIN' -o program
  check_physics ./program
}

t_shared_library_from_plain_compiler() {
  echo 'int plain(void) { return 42; }' > plain.c
  gcc -fPIC -shared plain.c -o libplain.so
  printf '#include <stdio.h>\nint plain(void);\nint main(void) { printf("%%d\\n", plain()); return 0; }\n' > main.c
  tmpicc main.c -L. -lplain -Wl,-rpath,"$PWD" -o program
  expect 42 ./program
}

t_main_in_a_library() {
  write_library
  tmpicc -c main.c
  ar rcs libmain.a main.o
  tmpicc physics.c libmain.a -o program
  check_physics ./program
}

t_profiling_library() {
  write_library
  cat > profile.c << 'END'
#include <mpi.h>
#include <stdio.h>
static int barriers;
int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}
int MPI_Finalize(void) {
  printf("barriers: %d\n", barriers);
  fflush(stdout);
  return PMPI_Finalize();
}
END
  tmpicc -c profile.c physics.c
  ar rcs libprofile.a profile.o
  tmpicc main.c physics.o libprofile.a -o archive
  expect_match "barriers: 1" ./archive
  tmpicc -fvisibility=hidden -shared profile.c -o libprofile.so
  tmpicc main.c physics.o -L. -lprofile -Wl,-rpath,"$PWD" -o shared
  expect_match "barriers: 1" ./shared
  expect 2 sh -c "tmpirun -n 2 ./shared | grep -c 'barriers: 1'"
  expect 2 sh -c "tmpirun -n 2 ./archive | grep -c 'barriers: 1'"
}

run_cases
