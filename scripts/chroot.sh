# shellcheck shell=sh disable=SC2154,SC2164 # its users set suite and root, and set -e
# Chroots of other releases: what scripts/test-on and packaging/debian-check share; sourced from the root of the repository after lib.sh. They set
# `suite` and `root`, the chroot's folder, and define cannot WHY WHAT_TO_DO, which ends the script where no chroot can be made.

chroots=$(realpath -m "${TMPI_CHROOTS:-${XDG_CACHE_HOME:-/var/tmp}/tmpi-chroots}")

# Ends the script, by cannot, where there can be no chroot of `suite`.
need_chroots() {
  [ "$(id -u)" -eq 0 ] || cannot "that needs root" "run it as root"
  (install_packages chroot) || cannot "debootstrap is not installed" "install it"
  command -v debootstrap > /dev/null || cannot "debootstrap is not installed" "install it"
  [ -e "/usr/share/debootstrap/scripts/$suite" ] || die "debootstrap knows no suite $suite"
  mkdir -p "$chroots"
  unshare --mount --pid --ipc --fork true 2> /dev/null ||
    cannot "this machine lets nobody have mounts of his own (unshare)" "run it where root may, outside of a container or in a privileged one"
}

# Where this machine's packages come from, if that has all suites of the distribution.
mirror() {
  found=$(grep -rhoE '(https?|file)://[^] ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2> /dev/null | head -n 1)
  printf '%s' "${found:-http://deb.debian.org/debian}" | tr -d ' '
}

# Made beside its place, so that what is at its place is whole.
make_chroot() {
  say "making a chroot of $suite in $root, a minute or so"
  rm -rf "$root.part"
  debootstrap --variant=minbase "$suite" "$root.part" "$(mirror)" > "$root.log" 2>&1 ||
    cannot "debootstrap failed ($(tail -n 1 "$root.log"))" "its messages are in $root.log"
  # The folder can be made anew: nothing in it needs to survive the machine's sudden end.
  echo force-unsafe-io > "$root.part/etc/dpkg/dpkg.cfg.d/tmpi"
  # A mirror that stands still is as good as any, also for unstable, whose lists are good for a week.
  echo 'Acquire::Check-Valid-Until "false";' > "$root.part/etc/apt/apt.conf.d/tmpi"
  mv "$root.part" "$root"
}

# What programs expect of a machine, and this checkout, which cannot be written to there but for its build folder. Nobody but this script's
# processes sees these mounts.
mount_all() {
  mount --bind "$root" "$root" # a place of its own for mounts, as / is
  cd "$root"
  mount -t proc proc proc
  mount --rbind /sys sys
  mount --rbind /dev dev
  mount -t tmpfs tmpfs dev/shm # ids of processes are others here, and with them names
  mount -t tmpfs tmpfs run
  mkdir run/lock
  cd - > /dev/null
  for file in /etc/resolv.conf /etc/hosts /etc/hostname; do
    [ ! -e $file ] || cp -L $file "$root$file"
  done
  mkdir -p build "build/$suite" "$root/tmpi"
  mount --bind . "$root/tmpi"
  mount -o remount,bind,ro "$root/tmpi"
  mount --bind "build/$suite" "$root/tmpi/build"
}

# Runs a command there, in the checkout.
in_chroot() {
  # shellcheck disable=SC2016 # $@ is the inner shell's
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} ${TMPI_WERROR:+TMPI_WERROR="$TMPI_WERROR"} \
    chroot "$root" sh -c 'cd /tmpi && exec "$@"' sh "$@"
}
