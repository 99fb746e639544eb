/* For programs about files: one of them at a time, and errors, each of which is an error class and a sentence. */
#pragma once

#include "check.h"

static char path[256];

/* A name in the directory of temporary files, the same in all ranks. */
static inline void make_path(const char* what) {
  int pid = (int)getpid();
  const char* directory = getenv("TMPDIR");
  CHECK_OK(MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD));
  snprintf(path, sizeof path, "%s/tmpi_%s_%d", directory != NULL ? directory : "/tmp", what, pid);
}

static inline MPI_File open_new(int amode) {
  MPI_File file;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  return file;
}

static inline void close_and_delete(MPI_File* file) {
  CHECK_OK(MPI_File_close(file));
  CHECK(*file == MPI_FILE_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
}

/* An error class, and a sentence that names what it is about. */
static inline void check_sentence(int code, int want, const char* part) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  CHECK_EQ(class_of(code), want);
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Error_string(code, text, &length));
  if (strstr(text, part) == NULL)
    check_failed(__FILE__, __LINE__, "\"%s\" says nothing of \"%s\"", text, part);
#else
  (void)text, (void)length, (void)part;
#endif
}
