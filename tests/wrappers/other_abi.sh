#!/bin/sh
# Programs that were linked with the ABI's library of another MPI run unrebuilt: tmpi stands in for the library, under whatever name, wherever
# it is found. The other MPI is a library here whose functions end the program.
. "$(dirname "$0")/lib.sh"

include=$(tmpicc --showme:incdirs)

# write_other SONAME: other/SONAME, with the functions that size.c and the library of another case call.
write_other() {
  mkdir -p other
  cat > other.c << 'END'
#include <stdio.h>
#include <stdlib.h>
#define REFUSE(name) int name(void) { fputs("the other MPI has been called\n", stderr); abort(); }
REFUSE(MPI_Init) REFUSE(MPI_Finalize) REFUSE(MPI_Comm_size) REFUSE(MPI_Comm_rank) REFUSE(MPI_Barrier)
END
  gcc -shared -fPIC other.c -o "other/$1" "-Wl,-soname,$1"
}

# What -v says of the program's library: the sentence without tmpirun's and the node's name in front.
says="tmpirun -v -n 2 ./size 2>&1 | grep -o 'needs libmpi.*takes its place'"

t_names_and_runpaths() {
  write_size
  for name in libmpi_abi.so.0 libmpi_abi.so.1 libmpi_abi_mpich.so.1 libmpi_abi_openmpi.so.1; do
    write_other $name
    gcc "-I$include" size.c -o size "other/$name" "-Wl,-rpath,$PWD/other"
    readelf -dW size | grep -q "NEEDED.*\[$name\]" || fail "the program does not name $name"
    expect "2
2" tmpirun -n 2 ./size
    expect "needs $name, which is $PWD/other/$name; tmpi's own takes its place" sh -c "$says"
  done
}

t_library_path() {
  write_size
  write_other libmpi_abi.so.1
  gcc "-I$include" size.c -o size other/libmpi_abi.so.1
  expect "2
2" env "LD_LIBRARY_PATH=$PWD/other" tmpirun -n 2 ./size
  LD_LIBRARY_PATH=$PWD/other
  export LD_LIBRARY_PATH
  expect "needs libmpi_abi.so.1, which is $PWD/other/libmpi_abi.so.1; tmpi's own takes its place" sh -c "$says"
  tmpicc size.c -o own
  expect "2
2" tmpirun -n 2 ./own
}

# And the other way round: started by somebody else's mpiexec, a program of tmpicc takes the library that LD_LIBRARY_PATH leads to.
t_own_program_with_another_library() {
  cat > version.c << 'END'
#include <mpi.h>
#include <stdio.h>
int main(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(text, &length);
  printf("%.*s\n", (int)sizeof "tmpi" - 1, text);
  return 0;
}
END
  tmpicc version.c -o version
  expect tmpi ./version
  mkdir other
  cat > other.c << 'END'
#include <string.h>
int MPI_Get_library_version(char* text, int* length) {
  strcpy(text, "fake");
  *length = 4;
  return 0;
}
END
  gcc -shared -fPIC other.c -o other/libmpi_abi.so.1 -Wl,-soname,libmpi_abi.so.1
  expect fake env "LD_LIBRARY_PATH=$PWD/other" ./version
  expect tmpi env "LD_LIBRARY_PATH=$PWD/other" tmpirun -n 1 ./version
}

# Where another MPI of the machine has the ABI's library, under its own file name.
t_own_program_under_others() {
  write_size
  tmpicc size.c -o size
  for mpi in mpich openmpi; do
    for library in /usr/lib/*/libmpi_abi_$mpi.so.1*; do
      [ -e "$library" ] && command -v mpiexec.$mpi > /dev/null || continue
      mkdir -p $mpi
      ln -sf "$library" $mpi/libmpi_abi.so.1
      expect "3
3
3" env "LD_LIBRARY_PATH=$PWD/$mpi" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 \
        PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe mpiexec.$mpi -n 3 ./size
    done
  done
}

# Nowhere on the machine, and needed by a library only.
t_library_without_mpi() {
  write_other libmpi_abi.so.1
  sed 's/int main(int argc, char\*\* argv)/int run(int argc, char** argv)/' "$here/size.c" > part.c
  gcc "-I$include" -shared -fPIC part.c -o libpart.so other/libmpi_abi.so.1
  rm -r other
  echo 'int run(int, char**); int main(int argc, char** argv) { return run(argc, argv); }' > main.c
  gcc main.c -o main -L. -lpart "-Wl,-rpath,$PWD" -Wl,--allow-shlib-undefined
  expect "2
2" tmpirun -n 2 ./main
}

t_words_in_front() {
  write_size
  write_other libmpi_abi.so.1
  gcc "-I$include" size.c -o size other/libmpi_abi.so.1
  expect "2
2" tmpirun -n 2 setarch -R ./size
}

t_show_libraries() {
  write_size
  write_other libmpi_abi.so.1
  gcc "-I$include" size.c -o size other/libmpi_abi.so.1 "-Wl,-rpath,$PWD/other"
  expect_match "^libmpi_abi.so +tmpi .*; instead of $PWD/other/libmpi_abi.so.1" tmpirun --show-libraries ./size
}

t_wrappers_of_the_abi() {
  write_hello
  for wrapper in mpicc_abi mpicxx_abi; do
    ln -s "$bin/tmpicc" mpicc_abi 2>/dev/null || true
    ln -s "$bin/tmpicxx" mpicxx_abi 2>/dev/null || true
    ./$wrapper hello.c -o hello
    check_hello ./hello
  done
  gcc "-I$include" -fPIC -shared "$here/size.c" -o libsize.so "-L$(tmpicc --showme:libdirs)" -lmpi_abi
  readelf -dW libsize.so | grep -q 'NEEDED.*libmpi_abi.so.1' || fail "-lmpi_abi does not name libmpi_abi.so.1"
}

run_cases
