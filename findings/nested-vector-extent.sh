#!/bin/sh
# One vector of unaligned rows, and a vector of two of those: MPICH and Open MPI disagree on both extents, and neither has the standard's.
#
# Version    MPICH 4.0.2 (libmpich-dev 4.0.2-3+b1), Open MPI 4.1.4 (libopenmpi-dev 4.1.4-3+b1), Debian 12; MPICH 5.0.2 and Open MPI 6.0.0rc2 are alike
# Input      inner = MPI_Type_create_hvector(3, 4, 25, MPI_INT): ends at byte 66; outer = MPI_Type_create_hvector(2, 1, 70, inner): ends at byte 136
# Expected   68 and 136. MPI 5.0, 5.1.7: without markers ub is the largest displacement plus size of an entry, and the extent is rounded up to the
#            strictest alignment of the entries (4); padding is no entry, so that of the first row does not count again in the second type
# Behaviour  MPICH   66 and 136: a vector is not rounded up at all, though a structure of a char and ints that ends at byte 41 is (44)
#            Open MPI 68 and 140: the padding behind the last inner one counts, then all is rounded up again
#            An array of such elements, and files with such an etype, have their second element elsewhere.
#
# Needs root, debootstrap and a mirror of Debian; installs into a temporary folder, which it removes. Fails if the behaviour changes.
set -eu

mirror=${1:-$(grep -rhoE '(https?|file)://[^] ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2> /dev/null | head -n 1 | tr -d ' ')}
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" > /dev/null
DEBIAN_FRONTEND=noninteractive chroot "$root" sh -c 'apt-get update -qq &&
  apt-get install -y -qq --no-install-recommends gcc libc6-dev mpich=4.0.2-3+b1 libmpich-dev=4.0.2-3+b1 openmpi-bin=4.1.4-3+b1 libopenmpi-dev=4.1.4-3+b1' > "$root/apt.log" 2>&1 ||
  { tail -n 5 "$root/apt.log" >&2; exit 1; }
cat > "$root/extent.c" << 'END'
#include <mpi.h>
#include <stdio.h>

static void show(const char* name, MPI_Datatype type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(type, &lb, &extent);
  printf("%s %ld\n", name, (long)extent);
}

int main(int argc, char** argv) {
  int lengths[] = {1, 4};
  MPI_Aint places[] = {0, 25};
  MPI_Datatype kinds[] = {MPI_CHAR, MPI_INT}, inner, outer, record;
  MPI_Init(&argc, &argv);
  MPI_Type_create_hvector(3, 4, 25, MPI_INT, &inner);
  MPI_Type_create_hvector(2, 1, 70, inner, &outer);
  MPI_Type_create_struct(2, lengths, places, kinds, &record);
  show("inner", inner);
  show("outer", outer);
  show("struct", record);
  MPI_Type_free(&inner);
  MPI_Type_free(&outer);
  MPI_Type_free(&record);
  MPI_Finalize();
  return 0;
}
END
in_chroot() { # with /proc, /sys and /dev, in namespaces of their own
  # shellcheck disable=SC2016 # the inner shell's
  ROOT=$root unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$ROOT/proc"; mount --rbind /sys "$ROOT/sys"; mount --rbind /dev "$ROOT/dev"
    exec timeout 120 chroot "$ROOT" env HOME=/root PATH=/usr/bin:/bin OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"' sh "$@"
}
got=
for mpi in mpich openmpi; do
  in_chroot mpicc.$mpi -o /extent.$mpi /extent.c
  words=$(in_chroot /extent.$mpi 2> /dev/null | tr '\n' ' ')
  echo "$mpi: $words"
  got="$got$mpi $words"
done
[ "$got" = "mpich inner 66 outer 136 struct 44 openmpi inner 68 outer 140 struct 44 " ]
