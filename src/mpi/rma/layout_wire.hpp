// Layouts on their way to another node, and what is known there of a target's type.
#pragma once

#include <memory>

#include "mpi/comm/packing.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/layout.hpp"

namespace tmpi::mpi::rma {

/// As much of a datatype as it takes to find its data.
struct TypeView {
  std::shared_ptr<const Layout> layout;
  MPI_Count size = 0, extent = 0, true_lb = 0, true_extent = 0;
  const Datatype* basic = nullptr;  ///< predefined; null: not of one kind of element

  Node node(MPI_Count count) const noexcept { return repeated(count, extent, layout->root()); }
};

TypeView view_of(const Datatype& type);
void pack_type(Packer& packer, const Datatype& type);
TypeView unpack_type(Unpacker& unpacker);

/// The handle of a predefined type with the arithmetic of `basic` that means the same in every process.
MPI_Datatype common_handle(const Datatype& basic) noexcept;

}  // namespace tmpi::mpi::rma
