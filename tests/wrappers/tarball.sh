#!/bin/sh
# tarball.sh CPACK BUILD UNPACKED: packs the tree as cpack does and unpacks it into UNPACKED, for the tests that follow.
set -eu
cpack=$1 build=$2 unpacked=$3
rm -rf "$unpacked" "$unpacked.packed"
mkdir "$unpacked" "$unpacked.packed"
# Not compressed: the size of it is nobody's concern here.
"$cpack" --config "$build/CPackConfig.cmake" -G TZST -D CPACK_ARCHIVE_COMPRESSION_LEVEL=1 -B "$unpacked.packed" > "$unpacked.log" 2>&1 || { cat "$unpacked.log"; exit 1; }
"${cpack%cpack}cmake" -E chdir "$unpacked" "${cpack%cpack}cmake" -E tar xf "$unpacked.packed"/tmpi-*.tar.zst
rm -rf "$unpacked.packed"
[ "$(find "$unpacked" -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ] || { echo "the tarball is not one folder"; exit 1; }
mv "$unpacked"/tmpi-*/* "$unpacked"
