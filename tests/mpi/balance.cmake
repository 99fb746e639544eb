# Ranks that move because they ask for it, and those that cannot. balance_run(NAME RANKS LABELS MODE tmpirun-options...): one test.
tmpi_program(balance_calls ${directory} SOURCES balance_calls.c)
function(balance_run name ranks labels mode)
  set(name mpi/balance_calls/n${ranks}-${name})
  add_test(NAME ${name} COMMAND ${TMPIRUN} -n ${ranks} --timeout 200 ${ARGN} ${directory}/balance_calls ${mode})
  set_tests_properties(${name} PROPERTIES TIMEOUT 220 LABELS "mpi;${labels}")
endfunction()
balance_run(w2-manual 5 moves moves --workers 2 --balance manual)
balance_run(w3-manual 2 "moves;long" moves --workers 3 --balance manual)
balance_run(nodes2-manual 6 "moves;nodes" moves --nodes 2 --workers 2 --balance manual)
balance_run(w2-rotate 6 "moves" streams --workers 2 --balance rotate)
balance_run(w3-steal 8 "moves" streams --workers 3 --balance steal)
balance_run(w8-auto 8 "moves;long" streams --workers 8 --balance auto:period=0.2)
balance_run(nodes2-auto 8 "moves;nodes;long" streams --nodes 2 --workers 2 --progress thread --balance auto:period=0.2)
balance_run(w2-none 3 moves stays --workers 2)
balance_run(w1-auto 2 "moves;long" stays --workers 1 --balance auto)
# The clocks of ranks and cores.
tmpi_program(balance_clocks ${directory} SOURCES balance_clocks.c)
function(balance_clocks name ranks labels)
  set(name mpi/balance_clocks/n${ranks}-${name})
  add_test(NAME ${name} COMMAND ${TMPIRUN} -n ${ranks} --timeout 100 ${ARGN} ${directory}/balance_clocks)
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS "mpi;${labels}")
endfunction()
balance_clocks(w2-manual 5 moves --workers 2 --balance manual)
balance_clocks(w3-rotate 7 moves --workers 3 --balance rotate)
balance_clocks(w3-steal 8 moves --workers 3 --balance steal)
balance_clocks(w2-auto 8 "moves;long" --workers 2 --balance auto:period=0.2)

# What is written for Adaptive MPI.
tmpi_program(balance_ampi ${directory} SOURCES balance_ampi.c)
foreach(asks asks never)
  add_test(NAME mpi/balance_ampi/n8-w2-${asks}
           COMMAND ${TMPIRUN} -n 8 --workers 2 --timeout 60 --balance refine:period=100000 ${directory}/balance_ampi ${asks})
  set_tests_properties(mpi/balance_ampi/n8-w2-${asks} PROPERTIES TIMEOUT 80 LABELS "mpi;moves")
endforeach()

# Beside a thread that looks at the network.
tmpi_mpi_run(coll_nonblocking 8 200 "mpi;nodes;moves" nodes2-thread-rotate --nodes 2 --workers 2 --progress thread --balance rotate)
tmpi_mpi_run(coll_nonblocking 8 200 "mpi;nodes;moves;long" nodes2-core-auto --nodes 2 --workers 2 --progress core --balance auto:period=1)
tmpi_mpi_run(coll_data 8 200 "mpi;nodes;moves;long" nodes2-thread-auto --nodes 2 --workers 3 --progress thread --balance auto:period=1)

# What is not written for ranks that move, with ranks that do: each of these tests under TMPI_BALANCE. They compile programs of their own, which
# a sanitizer tree cannot.
if(TMPI_SANITIZE)
  return()
endif()
foreach(policy rotate steal)
  add_test(NAME moves/others-${policy}
           COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${CMAKE_BINARY_DIR} --output-on-failure --no-tests=error -LE long -R
                   "^(observe/|check/|launch/(deadlock|failures|mismatch|output|preload|sleep|stacks|polling_ends|files|jobs)$|mpi/thread_openmp/(default|given)|mpi/fatal)")
  set_tests_properties(moves/others-${policy} PROPERTIES TIMEOUT 900 LABELS "long;moves" ENVIRONMENT TMPI_BALANCE=${policy})
endforeach()
