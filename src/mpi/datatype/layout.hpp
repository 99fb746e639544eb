// Layout: the normal form of a datatype, a tree of nodes (node.hpp) and the storage they point to. Immutable,
// shared between a type and the types built from it. Adjacent runs are merged, small inner loops are unrolled
// into run lists, regular lists become loops.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/datatype/node.hpp"

namespace tmpi::mpi {

class Layout;

/// One block of a list: the layout of `length` bytes' worth of elements that stand `extent` apart, at
/// `displacement`.
struct LayoutBlock {
  MPI_Count length;        ///< elements
  MPI_Count displacement;  ///< bytes
  MPI_Count extent;        ///< bytes between elements
  const std::shared_ptr<const Layout>* layout;
};

class Layout {
 public:
  const Node& root() const noexcept { return root_; }

  /// `runs` (offset, length), for predefined types.
  static std::shared_ptr<const Layout> of_runs(const std::vector<std::pair<MPI_Count, MPI_Count>>& runs);
  /// `count` blocks of `length` elements of `child`, the first at `displacement`; elements `extent` and
  /// blocks `stride` bytes apart.
  static std::shared_ptr<const Layout> of_blocks(MPI_Count displacement, MPI_Count count, MPI_Count length,
                                                 MPI_Count stride, MPI_Count extent,
                                                 std::shared_ptr<const Layout> child);
  /// The blocks one after the other.
  static std::shared_ptr<const Layout> of_list(const std::vector<LayoutBlock>& blocks);

 private:
  friend class ListBuilder;
  const Node* keep(const Node& node) { return &nodes_.emplace_back(node); }

  Node root_;
  std::deque<Node> nodes_;  // inner loops; stable addresses
  std::deque<std::vector<Run>> runs_;
  std::vector<Part> parts_;
  std::vector<std::shared_ptr<const Layout>> children_;  // keeps alive what nodes point to
};

}  // namespace tmpi::mpi
