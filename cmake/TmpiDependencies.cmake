# What tmpi is built from, by the names of Debian's packages, each with the reason it is there (scripts/setup installs the same list).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Boost 1.74 CONFIG REQUIRED COMPONENTS context) # libboost-context-dev: the fiber switch itself
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)   # libhwloc-dev: cores, NUMA nodes, binding
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium) # libsodium-dev: random numbers and keyed hashes, by which connections are authenticated
pkg_check_modules(PMIX REQUIRED IMPORTED_TARGET pmix)     # libpmix-dev: node processes that mpirun, prterun or srun start find each other; only tmpi-pmix loads it
find_path(VERBS_INCLUDE_DIR infiniband/verbs.h REQUIRED)   # libibverbs-dev: InfiniBand and RoCE adapters; the library itself is loaded when needed
find_path(OFI_INCLUDE_DIR rdma/fabric.h)                   # libfabric-dev: all other networks; the library itself is loaded when needed. Without it all else is built
find_package(fmt REQUIRED)                                # libfmt-dev: text
find_package(nlohmann_json REQUIRED)                      # nlohmann-json3-dev: what --profile=FILE writes
find_path(NUMA_INCLUDE_DIR numa.h REQUIRED)                # libnuma-dev: on which NUMA node memory lies; the library itself is loaded when needed
find_path(LIBURING_INCLUDE_DIR liburing.h REQUIRED)       # liburing-dev: files, read and written beside the cores; the library itself is loaded when needed
find_path(OTF2_INCLUDE_DIR otf2/otf2.h)                    # libopen-trace-format2-dev: traces that Vampir and Scalasca read; the library itself is loaded when needed. Without it all else is built
find_path(LIBDW_INCLUDE_DIR elfutils/libdwfl.h REQUIRED)  # libdw-dev: line numbers of call sites; the library itself is loaded when needed
# node-d3, or npm's d3 (-DTMPI_D3=.../node_modules/d3/dist/d3.min.js): what the report page draws with; its text becomes part of the page.
# Without it all is built, and tmpirun --report and tmpi-report say what is missing.
find_file(TMPI_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/lib/node_modules/d3/dist NO_DEFAULT_PATH)
if(NOT TMPI_D3)
  set(TMPI_D3 "")
  message(STATUS "d3 is missing (Debian: node-d3): tmpirun --report and tmpi-report will make no pages")
endif()
find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h REQUIRED) # doctest-dev: unit tests
find_package(benchmark REQUIRED)                          # libbenchmark-dev: microbenchmarks

# python3: generators and tests. What is first in PATH may be a script that looks for the interpreter with each call (pyenv), which takes longer
# than most of what is called: asked once, here, before find_package(Python3) looks.
find_program(TMPI_PYTHON3 python3)
if(TMPI_PYTHON3 AND NOT Python3_EXECUTABLE)
  execute_process(COMMAND ${TMPI_PYTHON3} -c "import sys; print(sys.executable)" OUTPUT_VARIABLE interpreter OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS "${interpreter}")
    set(Python3_EXECUTABLE ${interpreter} CACHE FILEPATH "The interpreter itself")
  endif()
endif()
