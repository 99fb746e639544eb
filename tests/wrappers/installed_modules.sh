#!/bin/sh
# The environment module of an installed tree, with whatever reads such files here: environment-modules or Lmod.
. "$(dirname "$0")/lib.sh"
prefix=$(dirname "$bin")
PATH=${PATH#"$bin":} # the module has to bring it

# Makes ./with_module COMMAND...: in a bash that has loaded the module.
write_with_module() {
  cat > with_module << END
#!/bin/bash
unset MODULEPATH LOADEDMODULES _LMFILES_
. $setup
module use $prefix/share/modulefiles && module load tmpi || exit
"\$@"
END
  chmod +x with_module
}

t_module() {
  setup=
  for file in /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
    [ ! -e $file ] || setup=$file
  done
  if [ -z "$setup" ]; then
    echo "neither environment-modules nor Lmod is here"
    return 0
  fi
  write_with_module
  write_hello
  expect "$prefix/bin/mpicc" ./with_module bash -c 'command -v mpicc'
  ./with_module mpicc hello.c -o hello
  expect_match "of 2" ./with_module mpirun -n 2 ./hello
  expect_match "^[0-9.]+$" ./with_module pkg-config --modversion tmpi
  expect "$prefix/share/man/man1/tmpirun.1" ./with_module man -w tmpirun
  expect_match "virtualized MPI" ./with_module bash -c ". $setup; module whatis tmpi 2>&1"
  # Unloaded, everything is as it was.
  expect "gone" ./with_module bash -c ". $setup; module unload tmpi; command -v tmpirun || echo gone"
}

run_cases
