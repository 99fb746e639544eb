list(APPEND TMPI_MPI_SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/arrays.cpp
  ${CMAKE_CURRENT_LIST_DIR}/builder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/construct.cpp
  ${CMAKE_CURRENT_LIST_DIR}/copy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cursor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/datatype.cpp
  ${CMAKE_CURRENT_LIST_DIR}/elements.cpp
  ${CMAKE_CURRENT_LIST_DIR}/external.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernels.cpp
  ${CMAKE_CURRENT_LIST_DIR}/layout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/markers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/predefined.cpp
  ${CMAKE_CURRENT_LIST_DIR}/selected.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stream.cpp)
