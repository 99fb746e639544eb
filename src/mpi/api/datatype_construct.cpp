// MPI_Type_contiguous, MPI_Type_vector, ... : the type constructors, with their large-count forms. MPI
// report, 5.1.2, 5.1.7, 5.1.10.
#include "mpi/api/profiled.hpp"
#include "mpi/core/call.hpp"
#include "mpi/core/check.hpp"
#include "mpi/datatype/construct.hpp"

using namespace tmpi::mpi;

namespace {

/// Runs `body(Datatype*&)` with the place for the new type and stores its handle.
template <class Body>
int construct(const char* name, MPI_Datatype* newtype, Body&& body) {
  return on_rank(name, [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(newtype, "newtype"));
    Datatype* type = nullptr;
    TMPI_TRY(body(type));
    *newtype = handle_of(*type);
    return kOk;
  });
}

/// The same for a constructor with one old type: `body(const Datatype& old, Datatype*&)`.
template <class Body>
int construct_from(const char* name, MPI_Datatype oldtype, MPI_Datatype* newtype, Body&& body) {
  return construct(name, newtype, [&](Datatype*& type) -> Err {
    const Datatype* old = datatype_from(oldtype);
    return old == nullptr ? bad_type(oldtype) : body(*old, type);
  });
}

}  // namespace

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_contiguous", oldtype, newtype, [&](const Datatype& old, Datatype*& type) {
    return construct_contiguous(count, old, type);
  });
}
TMPI_PROFILED(MPI_Type_contiguous);

int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_contiguous_c", oldtype, newtype, [&](const Datatype& old, Datatype*& type) {
    return construct_contiguous(count, old, type);
  });
}
TMPI_PROFILED(MPI_Type_contiguous_c);

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_vector", oldtype, newtype, [&](const Datatype& old, Datatype*& type) {
    return construct_vector(count, blocklength, stride, old, type);
  });
}
TMPI_PROFILED(MPI_Type_vector);

int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
  return construct_from("MPI_Type_vector_c", oldtype, newtype, [&](const Datatype& old, Datatype*& type) {
    return construct_vector(count, blocklength, stride, old, type);
  });
}
TMPI_PROFILED(MPI_Type_vector_c);

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                             MPI_Datatype* newtype) {
  return construct_from("MPI_Type_create_hvector", oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_hvector(count, blocklength, stride, old, type);
                        });
}
TMPI_PROFILED(MPI_Type_create_hvector);

int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                               MPI_Datatype* newtype) {
  return construct_from("MPI_Type_create_hvector_c", oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_hvector(count, blocklength, stride, old, type);
                        });
}
TMPI_PROFILED(MPI_Type_create_hvector_c);

int PMPI_Type_indexed(int count, const int blocklengths[], const int displacements[], MPI_Datatype oldtype,
                      MPI_Datatype* newtype) {
  return construct_from("MPI_Type_indexed", oldtype, newtype, [&](const Datatype& old, Datatype*& type) {
    return construct_indexed(count, blocklengths, displacements, old, type);
  });
}
TMPI_PROFILED(MPI_Type_indexed);

int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count blocklengths[], const MPI_Count displacements[],
                        MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_indexed_c", oldtype, newtype, [&](const Datatype& old, Datatype*& type) {
    return construct_indexed(count, blocklengths, displacements, old, type);
  });
}
TMPI_PROFILED(MPI_Type_indexed_c);

int PMPI_Type_create_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[],
                              MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_create_hindexed", oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_hindexed(count, blocklengths, displacements, old, type);
                        });
}
TMPI_PROFILED(MPI_Type_create_hindexed);

int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count blocklengths[],
                                const MPI_Count displacements[], MPI_Datatype oldtype,
                                MPI_Datatype* newtype) {
  return construct_from("MPI_Type_create_hindexed_c", oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_hindexed(count, blocklengths, displacements, old, type);
                        });
}
TMPI_PROFILED(MPI_Type_create_hindexed_c);

int PMPI_Type_create_indexed_block(int count, int blocklength, const int displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_create_indexed_block", oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_indexed_block(count, blocklength, displacements, old, type);
                        });
}
TMPI_PROFILED(MPI_Type_create_indexed_block);

int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count displacements[],
                                     MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_create_indexed_block_c", oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_indexed_block(count, blocklength, displacements, old, type);
                        });
}
TMPI_PROFILED(MPI_Type_create_indexed_block_c);

int PMPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint displacements[],
                                    MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_create_hindexed_block", oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_hindexed_block(count, blocklength, displacements, old, type);
                        });
}
TMPI_PROFILED(MPI_Type_create_hindexed_block);

int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_create_hindexed_block_c", oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_hindexed_block(count, blocklength, displacements, old, type);
                        });
}
TMPI_PROFILED(MPI_Type_create_hindexed_block_c);

int PMPI_Type_create_struct(int count, const int blocklengths[], const MPI_Aint displacements[],
                            const MPI_Datatype types[], MPI_Datatype* newtype) {
  return construct("MPI_Type_create_struct", newtype, [&](Datatype*& type) {
    return construct_struct(count, blocklengths, displacements, types, type);
  });
}
TMPI_PROFILED(MPI_Type_create_struct);

int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count blocklengths[],
                              const MPI_Count displacements[], const MPI_Datatype types[],
                              MPI_Datatype* newtype) {
  return construct("MPI_Type_create_struct_c", newtype, [&](Datatype*& type) {
    return construct_struct(count, blocklengths, displacements, types, type);
  });
}
TMPI_PROFILED(MPI_Type_create_struct_c);

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
  return construct_from(
      "MPI_Type_create_resized", oldtype, newtype,
      [&](const Datatype& old, Datatype*& type) { return construct_resized(old, lb, extent, false, type); });
}
TMPI_PROFILED(MPI_Type_create_resized);

int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype) {
  return construct_from(
      "MPI_Type_create_resized_c", oldtype, newtype,
      [&](const Datatype& old, Datatype*& type) { return construct_resized(old, lb, extent, true, type); });
}
TMPI_PROFILED(MPI_Type_create_resized_c);

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from("MPI_Type_dup", oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) { return construct_dup(old, type); });
}
TMPI_PROFILED(MPI_Type_dup);

int PMPI_Type_commit(MPI_Datatype* datatype) {
  return on_rank("MPI_Type_commit", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(datatype, "datatype"));
    Datatype* type = datatype_from(*datatype);
    if (type == nullptr) return bad_type(*datatype);
    if (!type->committed()) type->commit();  // predefined types are shared by all ranks: never written
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_commit);

int PMPI_Type_free(MPI_Datatype* datatype) {
  return on_rank("MPI_Type_free", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(datatype, "datatype"));
    const Datatype* type = datatype_from(*datatype);
    if (type == nullptr) return bad_type(*datatype);
    if (type->predefined())
      return fail(MPI_ERR_TYPE,
                  "{} is predefined and cannot be freed; free only types that a constructor returned",
                  type->name());
    type->release();
    *datatype = MPI_DATATYPE_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_free);
