tmpi_unit_test(datatype_test ONE_THREAD
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/datatype_test.cpp ${CMAKE_CURRENT_LIST_DIR}/model_test.cpp ${CMAKE_CURRENT_LIST_DIR}/type_map.cpp
  ROOMS mpi sched ult timers)
