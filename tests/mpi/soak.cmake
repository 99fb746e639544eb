# Random traffic of all kinds; not in programs.tsv, since MPICH 4.0 hangs in its persistent collectives and fails in its partitioned messages
# (without these two steps the program passes there), and Open MPI 4.1 has neither. Every build runs a short one; the longer tier runs thousands of ranks for minutes, under sanitizers too.
tmpi_program(soak ${directory} SOURCES soak.c FLAGS -Wno-unused-function)

# tmpi_soak(VARIANT RANKS STEPS SEED SECONDS LIMIT LABELS tmpirun-options...): STEPS steps, or if that is 0 as many as SECONDS allow.
function(tmpi_soak variant ranks steps seed seconds limit labels)
  set(name mpi/soak/n${ranks}-${variant})
  add_test(NAME ${name} COMMAND ${TMPIRUN} -n ${ranks} --timeout ${limit} ${ARGN} ${directory}/soak ${steps} ${seed} ${seconds})
  math(EXPR limit "${limit} + 20")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} LABELS "${labels}")
endfunction()

set(steps 300)
set(steps_of_many 150)
if(TMPI_SANITIZE STREQUAL "thread") # a tenth of a second each, of many
  set(steps 100)
  set(steps_of_many 60)
endif()
tmpi_soak(v3-random 7 ${steps} 3 0 300 "mpi" --vratio 3 --sched random:7)
tmpi_soak(w2 64 ${steps_of_many} 1 0 500 "mpi" --workers 2)
if(NOT TMPI_SANITIZE STREQUAL "thread")
  tmpi_soak(w1-random 64 150 2 0 500 "mpi" --workers 1 --sched random:2)
endif()
if(TMPI_SANITIZE STREQUAL "thread") # which knows at most 8,128 flows of control: ranks, and the helper fibers of their nonblocking collectives
  tmpi_soak(w2 1000 0 4 150 1200 "mpi;long" --workers 2)
else()
  tmpi_soak(w2 2500 0 4 150 1200 "mpi;long" --workers 2)
endif()
tmpi_soak(w2-lifo 1000 0 5 120 1200 "mpi;long" --workers 2 --sched lifo)
