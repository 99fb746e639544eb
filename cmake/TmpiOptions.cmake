# Warnings (errors in CI) and sanitizer builds.
option(TMPI_WERROR "Treat warnings as errors (CI turns it on)" OFF)
set(TMPI_SANITIZE "" CACHE STRING "Build with a sanitizer: address or thread")

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers -fno-omit-frame-pointer)
if(TMPI_WERROR)
  add_compile_options(-Werror)
endif()

# -O1 and short debug information: a sanitizer build takes half the time, and its reports still name lines.
if(TMPI_SANITIZE)
  add_compile_options(-O1 -g1 -Wno-maybe-uninitialized) # which instrumented code misleads
endif()
if(TMPI_SANITIZE STREQUAL "address")
  # nonnull-attribute: memcpy of no bytes from a null pointer is what an empty message of MPI comes down to, and harmless.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,alignment,nonnull-attribute -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
elseif(TMPI_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(NOT TMPI_SANITIZE STREQUAL "")
  message(FATAL_ERROR "TMPI_SANITIZE=${TMPI_SANITIZE}: must be empty, address or thread")
endif()
