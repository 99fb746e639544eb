# Each thread level asked for in turn (env_threads.c takes its number).
foreach(level 0 1 2)
  add_test(NAME mpi/env_threads/level${level} COMMAND ${TMPIRUN} -n 3 --timeout 200 ${directory}/env_threads ${level})
  set_tests_properties(mpi/env_threads/level${level} PROPERTIES TIMEOUT 240 LABELS "mpi")
endforeach()

# Programs with threads; written for any MPI with MPI_THREAD_MULTIPLE. Not in programs.tsv, which knows only one compiler's options.
tmpi_program(thread_p2p ${directory} SOURCES thread_p2p.c LIBRARIES -pthread)
tmpi_program(thread_coll ${directory} SOURCES thread_coll.c LIBRARIES -pthread)
tmpi_program(thread_levels ${directory} SOURCES thread_levels.c LIBRARIES -pthread)
tmpi_program(thread_join ${directory} SOURCES thread_join.cpp LIBRARIES -pthread)
tmpi_program(thread_waits ${directory} SOURCES thread_waits.c LIBRARIES -pthread)
tmpi_program(thread_openmp ${directory} SOURCES thread_openmp.c FLAGS -fopenmp)
foreach(program thread_p2p thread_coll thread_levels thread_join thread_waits thread_openmp)
  tmpi_mpi_variants(${program} "1;2;3;8" 300 "mpi")
  tmpi_mpi_on_nodes(${program} "8" 300)
  tmpi_mpi_run(${program} 40 500 "mpi;long" w2 --workers 2)
  # By itself: one rank, without the loader. A sanitizer's runtime would have to be linked with the program.
  if(NOT TMPI_SANITIZE)
    add_test(NAME mpi/${program}/alone COMMAND ${directory}/${program})
    set_tests_properties(mpi/${program}/alone PROPERTIES TIMEOUT 240 LABELS "mpi")
  endif()
endforeach()

tmpi_program(thread_rma ${directory} SOURCES thread_rma.c LIBRARIES -pthread)
tmpi_mpi_run(thread_rma 4 200 "mpi" w2 --workers 2)
tmpi_mpi_on_nodes(thread_rma "4" 200)

tmpi_program(thread_watch ${directory} SOURCES thread_watch.c LIBRARIES -pthread)
tmpi_mpi_run(thread_watch 2 200 "mpi;nodes" nodes2 --nodes 2)

# OMP_NUM_THREADS: 1 where ranks share a worker, unless it is given.
add_test(NAME mpi/thread_openmp/default COMMAND ${TMPIRUN} -n 4 --workers 2 --timeout 200 ${directory}/thread_openmp 1)
add_test(NAME mpi/thread_openmp/given COMMAND ${TMPIRUN} -n 4 --workers 2 --timeout 200 -x OMP_NUM_THREADS=2 ${directory}/thread_openmp 2)
set_tests_properties(mpi/thread_openmp/default mpi/thread_openmp/given PROPERTIES TIMEOUT 240 LABELS "mpi")
