#!/bin/sh
# compare_headers.sh PYTHON TOOLS COMPILER INCLUDE: our mpi.h is the ABI's, and the comparison finds what is changed in a copy. Other headers to
# compare: TMPI_TEST_MPI_H, paths separated by blanks.
set -eu
python=$1 tools=$2 compiler=$3 include=$4
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
compare() {
  "$python" -B "$tools/compare_mpi_h.py" --compiler "$compiler" "$@"
}
compare "$include/mpi.h" | grep -q ' 0 differ, 0 are not there$' || { echo "our mpi.h is not the ABI's"; exit 1; }
sed -e 's/^#define MPI_ANY_TAG .*/#define MPI_ANY_TAG (-7)/' -e 's/^#define MPI_SUM .*/#define MPI_SUM ((MPI_Op)0x22)/' \
  -e 's/^int MPI_Barrier(MPI_Comm comm);/int MPI_Barrier(MPI_Comm comm, int more);/' -e '/^#define MPI_BSEND_OVERHEAD /d' \
  -e 's/^int PMPI_Abort(.*/extern int nothing;/' "$include/mpi.h" > "$directory/mpi.h"
if compare "$directory/mpi.h" > "$directory/found"; then echo "what is changed is not found"; exit 1; fi
for line in "MPI_ANY_TAG differs" "MPI_SUM differs" "MPI_Barrier differs" "MPI_BSEND_OVERHEAD is not there" "PMPI_Abort is not there"; do
  grep -q "^  $line" "$directory/found" || { echo "not found: $line"; cat "$directory/found"; exit 1; }
done
[ "$(wc -l < "$directory/found")" -eq 6 ] || { echo "something else is found:"; cat "$directory/found"; exit 1; }
for header in ${TMPI_TEST_MPI_H:-}; do
  compare "$header"
done
