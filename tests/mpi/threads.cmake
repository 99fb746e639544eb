# Each thread level asked for in turn (env_threads.c takes its number).
foreach(level 0 1 2)
  add_test(NAME mpi/env_threads/level${level} COMMAND ${TMPIRUN} -n 3 --timeout 20 ${directory}/env_threads ${level})
  set_tests_properties(mpi/env_threads/level${level} PROPERTIES TIMEOUT 30 LABELS "mpi")
endforeach()
