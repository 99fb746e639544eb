# shellcheck shell=sh
# What the scripts of this directory share; sourced from the root of the repository.

say() { printf 'tmpi: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

# Runs a command as root.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    die "packages are missing and I am neither root nor is sudo there. As root, run: $*"
  fi
}

# The packages of the given tiers that are not installed.
missing_packages() {
  for tier in "$@"; do
    awk -F '\t' -v tier="$tier" '$1 == tier { print $2 }' scripts/packages.txt
  done | while read -r package; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) || true
    [ "$status" = installed ] || printf '%s ' "$package"
  done
}

# Installs what is missing of the given tiers. Says and does nothing if nothing is.
install_packages() {
  if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    say "this is no Debian: install the equivalents of the packages in scripts/packages.txt yourself. Going on to build."
    return 0
  fi
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  say "installing $missing"
  as_root apt-get update -qq || die "apt-get update failed: is the network there?"
  # shellcheck disable=SC2086 # a list of words
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing > /dev/null ||
    die "apt-get could not install: $missing"
}

# progress WHAT: reads ninja's output and shows how far it is: on a terminal one line that moves, elsewhere a line for every tenth. What else
# ninja says, warnings and errors, stays as it is; what it always says is left out: where it is, that it looked for new files.
progress() {
  begun=$(date +%s)
  tenth=0
  moving=no
  while IFS= read -r line; do
    case $line in
      'ninja: '[En]* | '-- '* | *Re-checking\ globbed* | *Re-running\ CMake*) continue ;;
      '['[0-9]*/[0-9]*']'*)
        step=${line#\[}
        total=${step#*/}
        total=${total%%\]*}
        step=${step%%/*}
        if [ -t 2 ]; then
          printf '\r\033[Ktmpi: building %s: step %s of %s, %s s' "$1" "$step" "$total" $(($(date +%s) - begun)) >&2
          moving=yes
        elif [ $((10 * step / total)) -gt $tenth ]; then
          tenth=$((10 * step / total))
          say "building $1: step $step of $total, $(($(date +%s) - begun)) s"
        fi
        ;;
      *)
        [ $moving = no ] || printf '\r\033[K' >&2
        printf '%s\n' "$line"
        ;;
    esac
  done
  [ $moving = no ] || printf '\r\033[Ktmpi: built %s in %s s\n' "$1" $(($(date +%s) - begun)) >&2
}

# build_tree DIRECTORY TARGET WHAT OPTIONS...: configures and builds TARGET, quietly if nothing changed; WHAT is what the user is told that it
# is. Sources are compiled in groups (cmake/TmpiGrouped.cmake).
build_tree() {
  directory=$1
  target=$2
  what=$3
  shift 3
  log=$directory/configure.log
  mkdir -p "$directory"
  launcher=
  if command -v ccache > /dev/null; then
    # What ccache asks for where headers are precompiled: that nobody cares about a macro defined before them, or about __TIME__ in them. It
    # learns from the compiler's list of headers what a result depends on (CCACHE_DEPEND), and need not run the preprocessor for what it has not.
    # It hashes the precompiled headers, some 80 MB, once and not with each source (CCACHE_INODECACHE): as long as compiling a small one takes.
    launcher="-DCMAKE_C_COMPILER_LAUNCHER=env;CCACHE_DEPEND=1;CCACHE_INODECACHE=1;ccache"
    launcher="$launcher -DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_DEPEND=1;CCACHE_INODECACHE=1;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
  fi
  [ -e "$directory/build.ninja" ] || say "configuring $directory, some seconds"
  # shellcheck disable=SC2086 # options are words
  if ! cmake -S . -B "$directory" -G Ninja $launcher -DTMPI_GROUPED=ON "$@" > "$log" 2>&1; then
    cat "$log" >&2
    die "cmake failed in $directory; the reason stands above"
  fi
  {
    status=0
    ninja -C "$directory" "$target" || status=$?
    echo $status > "$directory/ninja.status"
  } | progress "$what"
  [ "$(cat "$directory/ninja.status")" -eq 0 ] || die "the build in $directory failed; the reason stands above"
}
