# Warnings (errors in CI), sanitizer builds, grouped builds.
option(TMPI_WERROR "Treat warnings as errors (CI turns it on)" OFF)
set(TMPI_SANITIZE "" CACHE STRING "Build with a sanitizer: address or thread")
option(TMPI_SANITIZE_MORE "With TMPI_SANITIZE=address: checks of UndefinedBehaviorSanitizer that take long to compile, larger messages" OFF)
option(TMPI_GROUPED "Compile several sources together, and the C++ library's headers once (TmpiGrouped.cmake)" OFF)

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers -fno-omit-frame-pointer)
# Lines and functions, which is what backtraces and profiles name, without variables: an eighth less to compile, half to link.
if(TMPI_GROUPED AND NOT TMPI_SANITIZE)
  add_compile_options(-g1)
endif()
if(TMPI_WERROR)
  add_compile_options(-Werror)
endif()
# GCC clears a structure of some hundred bytes by `rep stos`, whose start alone costs tens of cycles: 16 bytes at a time instead.
include(CheckCXXCompilerFlag)
set(clear_by_vectors -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
check_cxx_compiler_flag(${clear_by_vectors} TMPI_HAS_MEMSET_STRATEGY)
if(TMPI_HAS_MEMSET_STRATEGY AND NOT TMPI_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:${clear_by_vectors}>)
endif()

# -Og and short debug information: a sanitizer build takes half the time, and its reports still name lines. -O1 would take a third longer for what
# AddressSanitizer's checks make of inlined functions, a sixth longer for ThreadSanitizer's.
if(TMPI_SANITIZE)
  add_compile_options(-Og -g1 -Wno-maybe-uninitialized) # which instrumented code misleads
endif()
# tmpi_test_environment(NAME VALUE): what tests run with, unless the environment has it already.
function(tmpi_test_environment name value)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cmake "if(NOT DEFINED ENV{${name}})\n  set(ENV{${name}} \"${value}\")\nendif()\n")
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_BINARY_DIR}/${name}.cmake) # read by ctest
endfunction()
if(TMPI_SANITIZE STREQUAL "address")
  # Checks are calls, not code at each place: a tenth less to compile. Not in tests, whose loops compare and fill (7000 is the default).
  add_compile_options(--param=asan-instrumentation-with-call-threshold=0)
  # nonnull-attribute: memcpy of no bytes from a null pointer is what an empty message of MPI comes down to, and harmless. null: crashes, which
  # AddressSanitizer reports as well, and its checks are a fifth of the build.
  # pointer-overflow, object-size: AddressSanitizer sees nearly all of it where the pointer is used; an eighth of the build, so for the longer tier.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,alignment,nonnull-attribute,null -fno-sanitize-recover=undefined)
  if(TMPI_SANITIZE_MORE)
    add_compile_definitions(TMPI_SANITIZE_MORE)
  else()
    add_compile_options(-fno-sanitize=pointer-overflow,object-size)
  endif()
  add_link_options(-fsanitize=address,undefined)
  # What has been freed is kept until 16 MB more have been, and not 256: each test that frees and allocates large buffers would touch that many new
  # pages, and touching them takes as long as the test. The longer tier keeps 256.
  if(NOT TMPI_SANITIZE_MORE)
    tmpi_test_environment(ASAN_OPTIONS "quarantine_size_mb=16")
  endif()
elseif(TMPI_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
  # Every process would wait a second at its end for other threads' reports; there are thousands of processes.
  # And a report ends the process: a node process that goes on ends with what its ranks say, and the test passes.
  tmpi_test_environment(TSAN_OPTIONS "atexit_sleep_ms=0 halt_on_error=1")
elseif(NOT TMPI_SANITIZE STREQUAL "")
  message(FATAL_ERROR "TMPI_SANITIZE=${TMPI_SANITIZE}: must be empty, address or thread")
endif()

# Whose linker takes a tenth of the time for so many symbols.
find_program(TMPI_LLD ld.lld)
if(TMPI_SANITIZE AND TMPI_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# For test code, which is much and runs little: the macros of a test framework take long to optimize and to instrument. ThreadSanitizer has to
# see the synchronization in it, and without optimization it would see every temporary too: twice as long for the tests that fill and compare most.
set(TMPI_TEST_OPTIONS -O1 -g1)
if(TMPI_SANITIZE STREQUAL "address")
  set(TMPI_TEST_OPTIONS -O0 --param=asan-instrumentation-with-call-threshold=7000)
endif()
if(TMPI_SANITIZE STREQUAL "address")
  list(APPEND TMPI_TEST_OPTIONS -fno-sanitize=undefined)
endif()

# Assertions of a test framework: a sixth less to compile; a failed one still says where.
set(TMPI_DOCTEST_DEFINITIONS DOCTEST_CONFIG_SUPER_FAST_ASSERTS)

# tmpi_not_sanitized(SOURCES...): large tables of templates that no test of a sanitizer tree runs, or that are another library's.
function(tmpi_not_sanitized)
  if(TMPI_SANITIZE)
    # A fiber is as large there as elsewhere in the tree (ult/fiber.hpp).
    string(TOUPPER ${TMPI_SANITIZE} sanitizer)
    string(REGEX REPLACE "^(.).*" "TMPI_\\1SAN" macro ${sanitizer})
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-fno-sanitize=all;-O0;-D${macro}=1")
  endif()
endfunction()
