// TMPI_PROFILED(MPI_Send): defines MPI_Send as a weak alias of PMPI_Send, which stands above it in the same
// translation unit. A profiling tool replaces MPI_Send by its own definition and calls PMPI_Send (MPI report,
// chapter 15.2).
//
//     int PMPI_Send(const void* buf, ...) { ... }
//     TMPI_PROFILED(MPI_Send);
//
// PMPI_ names are exported (mpi.h switches to default visibility), and the alias takes over the type of its
// target.
#pragma once

#include "mpi.h"
#include "mpix.h"

#define TMPI_PROFILED(name) \
  extern "C" decltype(P##name) name __attribute__((weak, alias("P" #name), visibility("default")))
