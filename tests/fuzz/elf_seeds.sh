#!/bin/sh
# Small ELF objects of every form that the loader knows, as seeds for elf_fuzz. Usage: elf_seeds.sh DIRECTORY START.S
set -e
mkdir -p "$1/build"
start=$(realpath "$2")
corpus=$(realpath "$1")
cd "$corpus/build"

cat > part.c <<'END'
#include <stddef.h>
__thread int counted = 5;
__thread char zeros[64];
int number = 7;
int *pointer = &number, *const constant = &number;
static int local;
int *pointers[] = {&number, &local, NULL};
int first(void) { return ++counted + number + ++zeros[3]; }
int second(void) { return first() + local; }
int (*functions[])(void) = {first, second};
__attribute__((weak)) extern int nobody(void);
int (*maybe)(void) = nobody;
__attribute__((constructor)) static void begin(void) { local = 3; }
__attribute__((destructor)) static void end(void) { local = 4; }
static int (*choose(void))(void) { return first; }
int indirect(void) __attribute__((ifunc("choose")));
int (*through)(void) = indirect;
int main(void) { return second() + indirect(); }
END
cat > versions <<'END'
OLD { global: first; };
NEW { global: *; } OLD;
END
cat > user.c <<'END'
extern int number;
extern int second(void);
extern __thread int counted;
int main(void) { return number + second() + counted; }
END
plain="-nostdlib -O1 -fno-asynchronous-unwind-tables -Wl,--build-id=none -Wl,-z,norelro"
small="$plain -Wl,-z,noseparate-code"
shared="gcc $small -fPIC -shared"

$shared part.c -o ../library
$shared part.c -Wl,--hash-style=sysv -o ../sysv
$shared part.c -Wl,--version-script=versions -Wl,-soname,libpart.so -o ../versions
$shared part.c -Wl,-Bsymbolic -s -o ../stripped
$shared part.c -mtls-dialect=gnu2 -o ../descriptors
$shared part.c -ftls-model=initial-exec -o ../initial-exec
$shared part.c -Wl,-z,pack-relative-relocs -o ../packed 2> packed.log || rm -f ../packed
$shared -c part.c -o part.o
$shared part.o "$start" -Wl,-e,_start -Wl,-Bsymbolic -Wl,-z,now -o ../program
cp ../versions libpart.so
gcc $small -fPIE -pie user.c -e main -L. -lpart -Wl,--allow-shlib-undefined -Wl,-rpath,'$ORIGIN:/nowhere' -o ../copies
gcc $small -fPIC -shared user.c -L. -lpart -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags,-rpath,/nowhere -o ../needs
for linker in gold lld; do
  if command -v ld.$linker > linkers.log; then gcc $plain -fPIC -shared -fuse-ld=$linker part.c -o ../$linker; fi
done
cd ..
rm -r build
