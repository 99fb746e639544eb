#!/bin/sh
# Questions: about tmpi (-show and the like) and about the compiler (-v, --version, -print-*).
. "$(dirname "$0")/lib.sh"

t_show_is_what_would_run() {
  write_hello
  command=$(tmpicc -show -O2 hello.c -o hello)
  sh -c "$command"
  check_hello ./hello
  expect_match "^gcc .*hello.c -c.* -fPIC" tmpicc -show hello.c -c
  expect_match "^g\+\+ " tmpicxx -show
  expect_match "^gcc .*-I.* -ltmpi" tmpicc -show
  expect_match "'-DA=\"x y\"'" tmpicc -show '-DA="x y"' -c hello.c
  expect_match "^gcc -shared .* -ltmpi" tmpicc --showme a.o
}

t_mpich_questions() {
  for spelling in -compile-info -compile_info; do
    expect_match "^gcc -I[^ ]+ -fstack-clash-protection .* -fPIC" tmpicc $spelling
  done
  for spelling in -link-info -link_info; do
    expect_match "^g\+\+ -B[^ ]+ -specs=[^ ]+ -L[^ ]+ -ltmpi" tmpicxx $spelling
  done
}

t_open_mpi_questions() {
  expect gcc tmpicc --showme:command
  expect_match "^-I/[^ ]+ -fstack-clash-protection .* -fPIC -fno-semantic-interposition$" tmpicc --showme:compile
  expect_match " -L/[^ ]+ -ltmpi -Wl,-rpath,/" tmpicc -showme:link
  expect tmpi tmpicc --showme:libs
  expect_match "^tmpicc: tmpi [0-9]+\.[0-9]+\.[0-9]+$" tmpicc --showme:version
  test -f "$(tmpicc --showme:incdirs)/mpi.h"
  test -f "$(tmpicc --showme:libdirs)/libtmpi.so"
}

# What is linked by hand has what tmpicc gives: private thread-locals, undefined names reported, the note.
t_answers_link_as_the_wrapper_does() {
  write_hello
  sed 's/^int main/int part(void);\nint main/; s/MPI_Barrier(MPI_COMM_WORLD)/part()/' hello.c > main.c
  printf '#include <mpi.h>\nint part(void) { return MPI_Barrier(MPI_COMM_WORLD); }\n' > part.c
  echo 'int nosuch(void); int main(void) { return nosuch(); }' > undefined.c
  for compiler in gcc "gcc -fuse-ld=gold" "gcc -flto -O2" "gcc -pie" clang "clang -fuse-ld=lld"; do
    case $compiler in *=gold) command -v ld.gold > /dev/null || continue ;; esac # a package of its own, or none
    # shellcheck disable=SC2086,SC2046 # options are words
    set -- $(tmpicc "-cc=${compiler%% *}" --showme:link)
    # shellcheck disable=SC2086,SC2046
    $compiler $(tmpicc --showme:compile) hello.c -o hello "$@"
    check_hello ./hello
    readelf -nW hello | grep -q '^  tmpi ' || fail "$compiler: no note of tmpi"
    # shellcheck disable=SC2086
    expect_failure "nosuch" $compiler -fPIC undefined.c -o undefined "$@"
    case $compiler in clang*) continue ;; esac
    # shellcheck disable=SC2086,SC2046
    $compiler $(tmpicc --showme:compile) -shared part.c -o libpart.so "$@"
    readelf -lW libpart.so | grep -q INTERP && fail "$compiler: a library with a program's start code"
    # shellcheck disable=SC2086,SC2046
    $compiler $(tmpicc --showme:compile) main.c -o main -L. -lpart "-Wl,-rpath,$PWD" "$@"
    check_hello ./main
  done
  g++ -x c++ $(tmpicxx --showme:compile) hello.c -x none -o hello $(tmpicxx --showme:link)
  check_hello ./hello
}

# Directories and names alone make an ordinary PIE, which serves a program without thread-locals.
t_names_link_with_a_plain_compiler() {
  write_size
  gcc -I"$(tmpicc --showme:incdirs)" size.c -o size -L"$(tmpicc --showme:libdirs)" -l"$(tmpicc --showme:libs)"
  expect "2
2" tmpirun -n 2 ./size
}

t_compilers_own_questions() {
  for question in --version -dumpmachine -dumpversion -print-prog-name=ld -print-search-dirs --help -v; do
    tmpicc $question > ours 2>&1
    gcc $question > theirs 2>&1
    grep -v COLLECT theirs > t && grep -v COLLECT ours > o
    cmp o t || fail "$question differs"
  done
  expect_failure "no input files" tmpicc
  expect_match "GNU ld|LLD" tmpicc -Wl,--version
  echo 'int main(void) { return 0; }' > a.c
  expect_match "cc1.*a.c" tmpicc '-###' a.c
  test ! -f a.out
}

t_other_compiler() {
  write_hello
  expect_match "^clang " tmpicc -cc=clang -show
  expect_match "^clang " env TMPI_CC=clang tmpicc -show
  expect_match "^clang\+\+ " tmpicxx -cxx=clang++ -show
  expect_match "^clang\+\+ " env TMPI_CXX=clang++ tmpicxx -show
  expect_match "^tcc " env TMPI_CC=clang tmpicc -cc=tcc -show
  expect_match "^env A=1 gcc -g -m64 -c? ?.*hello.c" env "TMPI_CC=env A=1 gcc -g -m64" tmpicc -show -c hello.c
  expect_failure "cannot run the compiler nosuchcc.*-cc=" tmpicc -cc=nosuchcc hello.c
  expect_failure "wrapper itself" env TMPI_CC=tmpicc tmpicc hello.c
}

t_called_through_a_link() {
  write_hello
  ln -s "$bin/tmpicc" mpicc
  ./mpicc hello.c -o hello
  check_hello ./hello
  ln -s "$bin/tmpicc" something
  expect_failure "Call it tmpicc, tmpicxx or tmpifort" ./something hello.c
  cp "$bin/tmpicc" tmpicc
  expect_failure "the rest of tmpi is not where it should be" ./tmpicc hello.c
}

run_cases
