#!/bin/sh
# thread_safety.sh CLANG ROOT: fails if clang finds that something of src/sched is touched by who does not have its lock, or is not inside the
# worker (src/base/thread_safety.hpp). The sources of a folder are one translation unit.
set -eu
clang=$1 root=$2
cd "$root"
check() {
  "$clang" -x c++ -std=gnu++20 -fsyntax-only -Wno-everything -Wthread-safety -Werror=thread-safety -DFMT_SHARED -Isrc -I. -Iinclude -
}

# It finds what it is to find.
if printf '%s\n' '#include "sched/loop/run_loop.hpp"' \
  'void take(tmpi::sched::RunLoop& loop) { loop.queue().pop(); }' | check 2> /dev/null; then
  echo "clang does not say that who is not inside a worker must not take from its ready queue" >&2
  exit 1
fi

folders=$(find src/sched -mindepth 1 -type d ! -name explore)
pids=
for folder in $folders; do
  find "$folder" -maxdepth 1 -name '*.cpp' ! -name '*_test.cpp' | sort | sed 's/.*/#include "&"/' | check &
  pids="$pids $!"
done
failed=0
for pid in $pids; do
  wait "$pid" || failed=1
done
exit $failed
