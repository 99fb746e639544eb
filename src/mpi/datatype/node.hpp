// Node: one loop of the normal form of a datatype. A datatype's layout is a tree of nodes in type-map order;
// its leaves are contiguous runs of bytes. Nodes are plain values that point to parts owned by a Layout
// (layout.hpp), so that the loop "count elements of this type" around a layout is built on the stack for
// every message.
//
//   kEmpty   no bytes
//   kRun     `length` bytes
//   kBlocks  `count` runs of `length` bytes, `stride` apart
//   kRuns    `count` runs, each with its own offset and length (all `length` long if that is not 0)
//   kLoop    `count` times `child`, `stride` apart
//   kList    `count` parts, each a node with its own offset
//
// Offsets and strides are bytes, may be negative, and count from the address of the enclosing node plus
// `offset`. Every node but kEmpty holds at least one byte, which bounds the depth: a loop at least doubles
// the size.
#pragma once

#include <cstdint>

#include "mpi.h"

namespace tmpi::mpi {

struct Node;

/// A run of a kRuns node. The array has one entry more than runs: the length of run i is runs[i + 1].start -
/// runs[i].start.
struct Run {
  MPI_Count offset;  ///< in memory
  MPI_Count start;   ///< in the packed stream of the node
};

/// A part of a kList node; the array ends with an entry whose start is the size of the node.
struct Part {
  MPI_Count offset;
  MPI_Count start;
  const Node* node;
};

struct Node {
  enum class Form : unsigned char { kEmpty, kRun, kBlocks, kRuns, kLoop, kList };

  Form form = Form::kEmpty;
  unsigned short depth = 1;  ///< levels of nodes, this one included
  MPI_Count size = 0;        ///< bytes in the packed stream
  MPI_Count offset = 0;
  MPI_Count length = 0;
  MPI_Count count = 0;
  MPI_Count stride = 0;
  union {
    const Node* child = nullptr;  ///< kLoop
    const Run* runs;              ///< kRuns
    const Part* parts;            ///< kList
  };

  bool empty() const noexcept { return form == Form::kEmpty; }
};

inline Node run_node(MPI_Count offset, MPI_Count length) noexcept {
  Node node;
  if (length == 0) return node;
  node.form = Node::Form::kRun;
  node.size = length;
  node.offset = offset;
  node.length = length;
  node.count = 1;
  return node;
}

inline Node shifted(Node node, MPI_Count offset) noexcept {
  node.offset += offset;
  return node;
}

/// `count` times `node`, `stride` bytes apart, adjacent runs merged. The result may point to `node`, which
/// must outlive it.
inline Node repeated(MPI_Count count, MPI_Count stride, const Node& node) noexcept {
  if (count == 1) return node;
  Node loop;
  if (count == 0 || node.empty()) return loop;
  loop = node;
  loop.size = count * node.size;
  if (node.form == Node::Form::kRun) {
    if (stride == node.length) {
      loop.length = loop.size;
      return loop;
    }
    loop.form = Node::Form::kBlocks;
    loop.count = count;
    loop.stride = stride;
    return loop;
  }
  const bool regular = node.form == Node::Form::kBlocks || node.form == Node::Form::kLoop;
  if (regular && stride == node.count * node.stride) {
    loop.count = count * node.count;
    return loop;
  }
  loop.form = Node::Form::kLoop;
  loop.depth = static_cast<unsigned short>(node.depth + 1);
  loop.offset = 0;
  loop.length = 0;
  loop.count = count;
  loop.stride = stride;
  loop.child = &node;
  return loop;
}

/// Contiguous runs of bytes in the node's stream. Walks the tree.
double runs_of(const Node& node) noexcept;

}  // namespace tmpi::mpi
