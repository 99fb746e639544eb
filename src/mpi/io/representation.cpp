#include "mpi/io/representation.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "mpi/base/no_memory.hpp"
#include "mpi/datatype/description.hpp"
#include "mpi/datatype/external.hpp"

namespace tmpi::mpi {
namespace {

class External32 final : public Representation {
 public:
  External32() : Representation(kExternal32) {}
  Err basic_extent(const Datatype& type, MPI_Count& bytes) const override {
    bytes = external_size(type);
    return kOk;
  }
  Err to_file(void* file, const void* buffer, MPI_Count count, const Datatype& type) const override {
    return pack_external(file, buffer, count, type);
  }
  Err from_file(void* buffer, MPI_Count count, const Datatype& type, const void* file) const override {
    unpack_external(buffer, count, type, file);
    return kOk;
  }
};

template <class Count>
class Registered final : public Representation {
 public:
  using Convert = typename ConversionFunctions<Count>::Convert;
  Registered(std::string name, Convert* read, Convert* write, MPI_Datarep_extent_function* extent,
             void* state)
      : Representation(std::move(name)), read_(read), write_(write), extent_(extent), state_(state) {}

  Err basic_extent(const Datatype& type, MPI_Count& bytes) const override {
    MPI_Aint extent = 0;
    const int code = call_program("extent function of a data representation",
                                  [&] { return extent_(type.handle(), &extent, state_); });
    if (code != MPI_SUCCESS || extent < 0)
      return fail(MPI_ERR_CONVERSION,
                  "the extent function of data representation \"{}\" gives {} for {}, with code {}", name(),
                  extent, type.name(), code);
    bytes = extent;
    return kOk;
  }
  Err to_file(void* file, const void* buffer, MPI_Count count, const Datatype& type) const override {
    if (write_ != nullptr) return convert(write_, "write", const_cast<void*>(buffer), count, type, file);
    pack_segment(file, buffer, count, type, 0, count * type.size());
    return kOk;
  }
  Err from_file(void* buffer, MPI_Count count, const Datatype& type, const void* file) const override {
    if (read_ != nullptr) return convert(read_, "read", buffer, count, type, const_cast<void*>(file));
    unpack_segment(buffer, count, type, file, 0, count * type.size());
    return kOk;
  }

 private:
  Err convert(Convert* function, const char* which, void* buffer, MPI_Count count, const Datatype& type,
              void* file) const {
    MPI_Count unit = 0;
    TMPI_TRY(size_in_file(type, *this, unit));
    for (MPI_Count position = 0; position < count;) {
      const MPI_Count now = std::min<MPI_Count>(count - position, std::numeric_limits<Count>::max());
      auto* converted = static_cast<char*>(file) + position * unit;
      const int code = call_program("conversion function of a data representation", [&] {
        return function(buffer, type.handle(), static_cast<Count>(now), converted, position, state_);
      });
      if (code != MPI_SUCCESS)
        return fail(MPI_ERR_CONVERSION,
                    "the {} conversion function of data representation \"{}\" returned {}", which, name(),
                    code);
      position += now;
    }
    return kOk;
  }

  Convert* const read_;
  Convert* const write_;
  MPI_Datarep_extent_function* const extent_;
  void* const state_;
};

// Calls visit(basic type, how many) in the order of the type map until it returns false or an error.
template <class Visit>
bool each_basic(const Datatype& type, MPI_Count count, Visit&& visit) {
  if (type.size() == 0 || count == 0) return true;
  if (type.predefined()) return visit(type, count);
  const Description& description = type.description();
  if (description.blocklengths.empty()) {
    const Datatype& old = *description.types[0];
    return each_basic(old, count * (type.size() / old.size()), visit);
  }
  for (MPI_Count i = 0; i < count; ++i) {
    for (std::size_t block = 0; block < description.types.size(); ++block) {
      if (!each_basic(*description.types[block], description.blocklengths[block], visit)) return false;
    }
  }
  return true;
}

}  // namespace

const std::shared_ptr<const Representation>& external32() {
  static const std::shared_ptr<const Representation> the_one = std::make_shared<External32>();
  return the_one;
}

template <class Count>
std::shared_ptr<const Representation> registered_representation(
    std::string name, typename ConversionFunctions<Count>::Convert* read,
    typename ConversionFunctions<Count>::Convert* write, MPI_Datarep_extent_function* extent, void* state) {
  return std::make_shared<Registered<Count>>(std::move(name), read, write, extent, state);
}
template std::shared_ptr<const Representation> registered_representation<int>(
    std::string, MPI_Datarep_conversion_function*, MPI_Datarep_conversion_function*,
    MPI_Datarep_extent_function*, void*);
template std::shared_ptr<const Representation> registered_representation<MPI_Count>(
    std::string, MPI_Datarep_conversion_function_c*, MPI_Datarep_conversion_function_c*,
    MPI_Datarep_extent_function*, void*);

Err size_in_file(const Datatype& type, const Representation& representation, MPI_Count& bytes) {
  Err error;
  bytes = 0;
  each_basic(type, 1, [&](const Datatype& basic, MPI_Count count) {
    MPI_Count one = 0;
    error = representation.basic_extent(basic, one);
    bytes += count * one;
    return !error;
  });
  return error;
}

Err size_in_memory(const Datatype& type, const Representation& representation, MPI_Count file_bytes,
                   MPI_Count& bytes) {
  MPI_Count element = 0;
  bytes = 0;
  TMPI_TRY(size_in_file(type, representation, element));
  if (element == 0) return kOk;
  bytes = file_bytes / element * type.size();
  MPI_Count rest = file_bytes % element;
  Err error;
  if (rest == 0) return kOk;
  each_basic(type, 1, [&](const Datatype& basic, MPI_Count count) {
    MPI_Count one = 0;
    error = representation.basic_extent(basic, one);
    if (error || one == 0) return !error;
    const MPI_Count whole = std::min(count, rest / one);
    bytes += whole * basic.size();
    rest -= whole * one;
    return whole == count;
  });
  return error;
}

}  // namespace tmpi::mpi
