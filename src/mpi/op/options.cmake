# -O3: gcc's -O2 leaves most of these loops to scalar code. No contraction: every table computes the same bits.
set(TMPI_LOOP_OPTIONS -O3 -ffp-contract=off -fno-math-errno)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/loops_baseline.cpp PROPERTIES COMPILE_OPTIONS "${TMPI_LOOP_OPTIONS}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/loops_avx2.cpp
    PROPERTIES COMPILE_OPTIONS "${TMPI_LOOP_OPTIONS};-mavx2" COMPILE_DEFINITIONS TMPI_LOOPS_AVX2=1)
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/op.cpp PROPERTIES COMPILE_DEFINITIONS TMPI_LOOPS_AVX2=1)
else()
  list(FILTER TMPI_MPI_SOURCES EXCLUDE REGEX "/loops_avx2\\.cpp$")
endif()
