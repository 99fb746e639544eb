#!/bin/sh
# Open MPI 6's mpirun changes the arguments of the program that it starts.
#
# Version    Open MPI 6.0.0rc2 (openmpi-bin 6.0.0~rc2-2) with PRRTE 5.0.0rc1 (libprrte-bin 5.0.0~rc1-1), Debian unstable, November 2026
# Input      mpirun -n 1 PROGRAM --map-by core --bind-to none --rank-by slot
# Expected   the program gets its arguments as they were typed: what stands behind a program's name is the program's
# Behaviour  it gets --mapby core --bindto none --rankby slot: three of mpirun's own options are respelt wherever they stand in the command line.
#            Others (--allow-run-as-root, --display) are left alone; so are all under Open MPI 5.0.7. A program with an option of such a name fails or
#            does something else, and so does a second launcher that is started by the first one.
#
# Needs root, debootstrap and a mirror of Debian; installs into a temporary folder, which it removes. Fails if the behaviour changes.
set -eu

mirror=${1:-$(grep -rhoE '(https?|file)://[^] ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2> /dev/null | head -n 1 | tr -d ' ')}
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase sid "$root" "${mirror:-http://deb.debian.org/debian}" > /dev/null
echo 'Acquire::Check-Valid-Until "false";' > "$root/etc/apt/apt.conf.d/00-old-lists"
DEBIAN_FRONTEND=noninteractive chroot "$root" sh -c 'apt-get update -qq &&
  apt-get install -y -qq --no-install-recommends openmpi-bin=6.0.0~rc2-2 libprrte-bin=5.0.0~rc1-1' > /dev/null 2>&1

in_chroot() { # with /proc, /sys and /dev, in namespaces of their own
  # shellcheck disable=SC2016 # the inner shell's
  ROOT=$root unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$ROOT/proc"; mount --rbind /sys "$ROOT/sys"; mount --rbind /dev "$ROOT/dev"
    exec timeout 120 chroot "$ROOT" env HOME=/root PATH=/usr/bin:/bin "$@"' sh "$@"
}
got=$(in_chroot mpirun.openmpi --allow-run-as-root --oversubscribe -n 1 echo --map-by core --bind-to none --rank-by slot --allow-run-as-root --display map)
echo "typed: --map-by core --bind-to none --rank-by slot --allow-run-as-root --display map"
echo "got:   $got"
[ "$got" = "--mapby core --bindto none --rankby slot --allow-run-as-root --display map" ]
