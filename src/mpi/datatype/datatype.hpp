// Datatype: the layout of data in memory, behind one small interface. Immutable once built, reference counted
// (atomically: two ranks may hold the same type while a message moves), so that a pending operation keeps its
// type alive after MPI_Type_free. Predefined types are one table for all ranks and are never freed. MPI
// report, chapter 5. All sizes are MPI_Count (64 bit). Nothing here suspends a fiber.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi.h"
#include "mpi/base/attributes.hpp"
#include "mpi/base/error.hpp"
#include "mpi/base/handle_memory.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/datatype/kind.hpp"

namespace tmpi::mpi {

class Layout;        // layout.hpp: the normal form, loops over contiguous runs, adjacent runs merged
struct Description;  // description.hpp: the constructor and its arguments, for MPI_Type_get_contents and
                     // MPI_Get_elements

class Datatype {
 public:
  TMPI_IN_HANDLE_MEMORY(HandleKind::kDatatype, Datatype)
  Datatype() noexcept;
  ~Datatype();
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;

  MPI_Count size() const noexcept { return size_; }  ///< bytes of data in one element
  MPI_Count lb() const noexcept { return lb_; }
  MPI_Count extent() const noexcept { return extent_; }
  MPI_Count true_lb() const noexcept { return true_lb_; }
  MPI_Count true_extent() const noexcept { return true_extent_; }
  bool committed() const noexcept { return committed_; }
  bool predefined() const noexcept { return handle_ != MPI_DATATYPE_NULL; }
  MPI_Datatype handle() const noexcept {
    return predefined() ? handle_ : reinterpret_cast<MPI_Datatype>(const_cast<Datatype*>(this));
  }
  /// One run of size() bytes at offset 0 and extent() == size(): any count of them is one memcpy.
  bool contiguous() const noexcept { return contiguous_; }
  /// Not contiguous, and the runs of bytes are shorter than four cache lines on average.
  bool scattered() const noexcept { return scattered_; }

  /// Machine representation of the elements of a predefined type; Kind::kNone for derived types and types
  /// without arithmetic.
  Kind kind() const noexcept { return kind_; }
  KindGroup group() const noexcept { return group_; }
  /// Basic elements in one element of this type; those of a pair type are two.
  MPI_Count elements() const noexcept { return elements_; }
  /// Largest alignment of a basic element; 1 if there is none.
  MPI_Count alignment() const noexcept { return alignment_; }
  /// True if MPI_Type_create_resized set the bounds somewhere below: they are then no longer those of the
  /// data (MPI report, 5.1.6).
  bool explicit_bounds() const noexcept { return explicit_bounds_; }
  const Layout& layout() const noexcept { return *layout_; }
  const std::shared_ptr<const Layout>& shared_layout() const noexcept { return layout_; }
  const Description& description() const noexcept { return *description_; }
  const std::string& name() const noexcept { return name_; }

  /// Makes the type usable in communication. The normal form exists since construction, so this is a flag.
  void commit() noexcept { committed_ = true; }
  void set_name(std::string name) { name_ = std::move(name); }
  /// Of a derived type, used by its owner only; those of predefined types belong to the rank: bearer_of().
  std::unique_ptr<Attributes>& attributes() noexcept { return attributes_; }
  /// Handles of its owner onto a derived type: one since construction, one more for each that
  /// MPI_Type_get_contents gives away. The attributes go with the last.
  void add_handle() const noexcept {
    if (!predefined()) ++handles_;
  }
  void drop_handle() const noexcept { --handles_; }
  int handles() const noexcept { return handles_; }
  bool last_handle() const noexcept { return handles_ == 1; }

  void retain() const noexcept {
    if (!predefined()) references_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Frees the type with the last reference.
  void release() const noexcept {
    if (!predefined()) release_derived();
  }

  bool alive() const noexcept { return magic_ == kMagic; }

 protected:
  friend struct DatatypeBuilder;
  friend struct FactsOfQueues;  // mpi/diagnose/debugger_queue_facts.cpp
  static constexpr std::uint32_t kMagic = 0x74797065;
  void release_derived() const noexcept;

  MPI_Count size_ = 0, lb_ = 0, extent_ = 0, true_lb_ = 0, true_extent_ = 0;
  bool committed_ = false;
  bool contiguous_ = false;
  bool scattered_ = false;
  bool explicit_bounds_ = false;
  Kind kind_ = Kind::kNone;
  KindGroup group_ = KindGroup::kDerived;
  std::uint32_t magic_ = kMagic;
  MPI_Count elements_ = 0;
  MPI_Count alignment_ = 1;
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;  ///< the ABI's small constant for predefined types
  std::shared_ptr<const Layout> layout_;
  std::unique_ptr<const Description> description_;
  std::string name_;
  std::unique_ptr<Attributes> attributes_;
  mutable int handles_ = 1;
  mutable std::atomic<int> references_{1};
  mutable const Datatype* next_dead_ = nullptr;  // while release() works off those that nobody uses any more
};

/// The slots of predefined types: their handles are MPI_DATATYPE_NULL ..
/// MPI_DATATYPE_NULL + kPredefinedSlots - 1 (predefined.cpp).
inline constexpr std::uintptr_t kPredefinedBase = 0x200;
inline constexpr std::uintptr_t kPredefinedSlots = 0x100;
extern Datatype* predefined_types[kPredefinedSlots];

/// What operations on single elements need to know of a predefined type, by slot, at one place.
struct Scalar {
  enum class Sum : std::uint8_t {
    kOther,
    kInteger,
    kFloating
  };                      ///< as int32_t or int64_t, as float or double
  std::uint8_t size = 0;  ///< in bytes; 0: no type, or not one run of at most eight
  Sum sum = Sum::kOther;  ///< how MPI_SUM adds
  bool compares = false;  ///< of those that MPI_Compare_and_swap takes
};
extern Scalar predefined_scalars[kPredefinedSlots];
[[gnu::always_inline]] inline Scalar scalar_from(MPI_Datatype handle) noexcept {
  const std::uintptr_t slot = reinterpret_cast<std::uintptr_t>(handle) - kPredefinedBase;
  return slot < kPredefinedSlots ? predefined_scalars[slot] : Scalar{};
}

/// MPI report, 12.3.4: C integer, Fortran integer, logical, multi-language and byte types.
constexpr bool comparable(KindGroup group) noexcept {
  return group == KindGroup::kCInteger || group == KindGroup::kFortranInteger ||
         group == KindGroup::kLogical || group == KindGroup::kMultiLanguage || group == KindGroup::kByte;
}

/// The type behind a handle: a table look-up for predefined ones, the pointer itself otherwise. Null for
/// MPI_DATATYPE_NULL and for handles that are no datatypes as far as that can be seen (unknown small
/// constants, bad magic).
[[gnu::always_inline]] inline Datatype* datatype_from(MPI_Datatype handle) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (is_predefined(handle)) {
    const std::uintptr_t slot = value - kPredefinedBase;
    return slot < kPredefinedSlots ? predefined_types[slot] : nullptr;
  }
  auto* type = reinterpret_cast<Datatype*>(handle);
  return value % alignof(Datatype) == 0 && type->alive() ? type : nullptr;
}
MPI_Datatype handle_of(const Datatype& type) noexcept;

/// Copies data between two layouts without a pack buffer: at most `capacity` = dcount * dtype.size() bytes,
/// in type-map order. Returns the bytes copied (the smaller of both sides); the caller reports truncation.
/// Source and destination do not overlap.
MPI_Count copy_typed(void* dst, MPI_Count dcount, const Datatype& dtype, const void* src, MPI_Count scount,
                     const Datatype& stype);

/// Copies bytes [offset, offset + length) of the packed stream of (buf, count, type) to or from `packed`;
/// offset allows a message to be packed in segments. The segment is found in O(depth of the type *
/// log(entries of a level)).
void pack_segment(void* packed, const void* buf, MPI_Count count, const Datatype& type, MPI_Count offset,
                  MPI_Count length);
void unpack_segment(void* buf, MPI_Count count, const Datatype& type, const void* packed, MPI_Count offset,
                    MPI_Count length);

/// If the data of (buf, count, type) is one run of memory: its address; else (or if there is no data) null.
void* single_run(const void* buf, MPI_Count count, const Datatype& type) noexcept;

/// Number of basic elements in the first `bytes` bytes of a stream of `type`; MPI_UNDEFINED if they end
/// inside one.
MPI_Count element_count(const Datatype& type, MPI_Count bytes);
/// The inverse: bytes of the first `count` basic elements of a stream of `type`.
MPI_Count element_bytes(const Datatype& type, MPI_Count count);

}  // namespace tmpi::mpi
