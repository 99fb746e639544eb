// Representation: how data look in a file where that is not how they look in memory: external32, or what the
// program registers (MPI report, 14.5). The native one is null: nothing is converted. Data are converted as a
// whole, in memory: a copy in the file's representation is what is read or written.
#pragma once

#include <memory>
#include <string>

#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

inline constexpr char kNative[] = "native";
inline constexpr char kInternal[] = "internal";  // the same as native: all processes are of one kind
inline constexpr char kExternal32[] = "external32";

class Representation {
 public:
  explicit Representation(std::string name) : name_(std::move(name)) {}
  virtual ~Representation() = default;
  const std::string& name() const noexcept { return name_; }

  /// Bytes in the file of one element of a predefined type.
  virtual Err basic_extent(const Datatype& type, MPI_Count& bytes) const = 0;
  /// `count` elements to and from the file's representation, without gaps. May call functions of the program.
  virtual Err to_file(void* file, const void* buffer, MPI_Count count, const Datatype& type) const = 0;
  virtual Err from_file(void* buffer, MPI_Count count, const Datatype& type, const void* file) const = 0;

 private:
  const std::string name_;
};

const std::shared_ptr<const Representation>& external32();

/// Bytes in the file of the data of one element of any type.
Err size_in_file(const Datatype& type, const Representation& representation, MPI_Count& bytes);

/// Bytes in memory of the first `file_bytes` bytes in the file of a stream of the type; of an element that is
/// there in part, its basic elements that are whole.
Err size_in_memory(const Datatype& type, const Representation& representation, MPI_Count file_bytes,
                   MPI_Count& bytes);

/// The type as it is in the file: basic elements have the representation's extents, and so have displacements that
/// are counted in elements; those in bytes stay (MPI report, 14.5.1). `out` has a reference of the caller's.
Err type_in_file(const Datatype& type, const Representation& representation, const Datatype*& out);

/// What a program registers. `Count`: int or MPI_Count.
template <class Count>
struct ConversionFunctions;
template <>
struct ConversionFunctions<int> {
  using Convert = MPI_Datarep_conversion_function;
};
template <>
struct ConversionFunctions<MPI_Count> {
  using Convert = MPI_Datarep_conversion_function_c;
};
/// `read` and `write` may be null: data are then as in memory.
template <class Count>
std::shared_ptr<const Representation> registered_representation(
    std::string name, typename ConversionFunctions<Count>::Convert* read,
    typename ConversionFunctions<Count>::Convert* write, MPI_Datarep_extent_function* extent, void* state);

}  // namespace tmpi::mpi
