// MPI_Type_get_envelope and MPI_Type_get_contents: how a datatype was made. MPI report, 5.1.13.
#include <algorithm>

#include "mpi/api/profiled.hpp"
#include "mpi/datatype/check.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/description.hpp"
#include "mpi/rank/call.hpp"

using namespace tmpi::mpi;

namespace {

template <class I, class T>
void store_size(I* where, const std::vector<T>& list) {
  *where = static_cast<I>(list.size());
}

Err too_small(const char* argument, MPI_Count given, std::size_t needed) {
  return fail(MPI_ERR_ARG,
              "{} is {}, but the datatype has {} of them; MPI_Type_get_envelope tells the numbers", argument,
              given, needed);
}

Err made_by_large_count() {
  return fail(MPI_ERR_TYPE,
              "the datatype was made by a large-count constructor (a name with _c); decode it with "
              "MPI_Type_get_envelope_c and "
              "MPI_Type_get_contents_c");
}

template <class T>
Err copy_out(const char* argument, const std::vector<T>& list, MPI_Count max, T* array) {
  if (max < static_cast<MPI_Count>(list.size())) return too_small(argument, max, list.size());
  if (!list.empty()) TMPI_TRY(check_pointer(array, "array_of_integers, _addresses or _large_counts"));
  std::copy(list.begin(), list.end(), array);
  return kOk;
}

/// Each derived type handed out is one reference that the caller frees.
Err types_out(const Description& description, MPI_Count max, MPI_Datatype* array) {
  if (max < static_cast<MPI_Count>(description.types.size()))
    return too_small("max_datatypes", max, description.types.size());
  if (!description.types.empty()) TMPI_TRY(check_pointer(array, "array_of_datatypes"));
  for (const Datatype* type : description.types) {
    type->retain();
    type->add_handle();
    *array++ = handle_of(*type);
  }
  return kOk;
}

Err contents_of(const Datatype& type, const Description*& description) {
  description = &type.description();
  if (description->combiner != MPI_COMBINER_NAMED) return kOk;
  return fail(MPI_ERR_TYPE, "{} is a predefined datatype (combiner MPI_COMBINER_NAMED): it has no contents",
              type.name());
}

}  // namespace

int PMPI_Type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses, int* num_datatypes,
                           int* combiner) {
  return on_rank("MPI_Type_get_envelope", [&](Rank&) -> Err {
    const Datatype* type = datatype_from(datatype);
    if (type == nullptr) return bad_type(datatype);
    for (const void* result : {num_integers, num_addresses, num_datatypes, combiner})
      TMPI_TRY(check_pointer(result, "num_integers, num_addresses, num_datatypes or combiner"));
    const Description& description = type->description();
    if (!description.large_counts.empty()) return made_by_large_count();
    store_size(num_integers, description.integers);
    store_size(num_addresses, description.addresses);
    store_size(num_datatypes, description.types);
    *combiner = description.combiner;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_get_envelope);

int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
                             MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner) {
  return on_rank("MPI_Type_get_envelope_c", [&](Rank&) -> Err {
    const Datatype* type = datatype_from(datatype);
    if (type == nullptr) return bad_type(datatype);
    for (const void* result : {static_cast<void*>(num_integers), static_cast<void*>(num_addresses),
                               static_cast<void*>(num_large_counts), static_cast<void*>(num_datatypes),
                               static_cast<void*>(combiner)})
      TMPI_TRY(
          check_pointer(result, "num_integers, num_addresses, num_large_counts, num_datatypes or combiner"));
    const Description& description = type->description();
    store_size(num_integers, description.integers);
    store_size(num_addresses, description.addresses);
    store_size(num_large_counts, description.large_counts);
    store_size(num_datatypes, description.types);
    *combiner = description.combiner;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_get_envelope_c);

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                           int integers[], MPI_Aint addresses[], MPI_Datatype datatypes[]) {
  return on_rank("MPI_Type_get_contents", [&](Rank&) -> Err {
    const Datatype* type = datatype_from(datatype);
    if (type == nullptr) return bad_type(datatype);
    const Description* description = nullptr;
    TMPI_TRY(contents_of(*type, description));
    if (!description->large_counts.empty()) return made_by_large_count();
    TMPI_TRY(copy_out("max_integers", description->integers, max_integers, integers));
    TMPI_TRY(copy_out("max_addresses", description->addresses, max_addresses, addresses));
    return types_out(*description, max_datatypes, datatypes);
  });
}
TMPI_PROFILED(MPI_Type_get_contents);

int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes, int integers[],
                             MPI_Aint addresses[], MPI_Count large_counts[], MPI_Datatype datatypes[]) {
  return on_rank("MPI_Type_get_contents_c", [&](Rank&) -> Err {
    const Datatype* type = datatype_from(datatype);
    if (type == nullptr) return bad_type(datatype);
    const Description* description = nullptr;
    TMPI_TRY(contents_of(*type, description));
    TMPI_TRY(copy_out("max_integers", description->integers, max_integers, integers));
    TMPI_TRY(copy_out("max_addresses", description->addresses, max_addresses, addresses));
    TMPI_TRY(copy_out("max_large_counts", description->large_counts, max_large_counts, large_counts));
    return types_out(*description, max_datatypes, datatypes);
  });
}
TMPI_PROFILED(MPI_Type_get_contents_c);
