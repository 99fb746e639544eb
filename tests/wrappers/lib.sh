# What the scripts of this directory share; sourced with the directory of the wrappers as $1. Each function t_* of a script is a test
# case and runs in an empty directory of its own; run_cases runs them all and fails if one did.
set -eu
bin=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
PATH=$bin:$PATH
export PATH
unset TMPI_CC TMPI_CXX TMPI_FC CFLAGS CXXFLAGS FCFLAGS FFLAGS CPPFLAGS LDFLAGS LIBS CC CXX FC F77 2>/dev/null || true

# hello.c prints "rank R of N, seen S": S sums a global, a static and a thread-local that each rank changed by itself.
write_hello() {
  cp "$here/hello.c" "${1:-hello.c}"
}

# size.c prints the number of ranks and has no thread-locals, so that a plain compiler can link it.
write_size() {
  cp "$here/size.c" "${1:-size.c}"
}

# Runs program $1 by itself and with three ranks, and expects what hello.c prints.
check_hello() {
  expect "rank 0 of 1, seen 6" "$1"
  expect "rank 0 of 3, seen 6
rank 1 of 3, seen 9
rank 2 of 3, seen 12" sh -c "tmpirun -n 3 $1 | sort"
}

# expect TEXT COMMAND...: the command succeeds and prints TEXT.
expect() {
  wanted=$1
  shift
  got=$(timeout 300 "$@" 2>&1) || fail "$* failed: $got"
  [ "$got" = "$wanted" ] || fail "$* printed '$got', not '$wanted'"
}

# expect_match PATTERN COMMAND...: the command succeeds and prints a line that matches the extended regular expression.
expect_match() {
  wanted=$1
  shift
  got=$(timeout 300 "$@" 2>&1) || fail "$* failed: $got"
  printf '%s\n' "$got" | grep -Eq -e "$wanted" || fail "$* printed '$got', which does not match '$wanted'"
}

# expect_failure PATTERN COMMAND...: the command fails with a message that matches.
expect_failure() {
  wanted=$1
  shift
  if got=$(timeout 300 "$@" 2>&1); then fail "$* did not fail; it printed '$got'"; fi
  printf '%s\n' "$got" | grep -Eq -e "$wanted" || fail "$* failed with '$got', which does not match '$wanted'"
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

run_cases() {
  failed=0
  cases=$(sed -n 's/^\(t_[a-z0-9_]*\)().*/\1/p' "$0")
  for case in $cases; do
    directory=$(mktemp -d)
    set +e # the shell ignores set -e inside a condition
    (
      set -eu
      cd "$directory"
      "$case"
    ) > "$directory.log" 2>&1
    status=$?
    set -e
    if [ $status -eq 0 ]; then
      echo "ok   $case"
    else
      echo "FAIL $case"
      cat "$directory.log"
      failed=$((failed + 1))
    fi
    rm -rf "$directory" "$directory.log"
  done
  [ $failed -eq 0 ]
}
