#include "mpi/rma/layout_wire.hpp"

#include <vector>

#include "mpi/rma/combiner.hpp"

namespace tmpi::mpi::rma {
namespace {

void pack_node(Packer& packer, const Node& node) {
  packer.value(node.form);
  packer.value(node.offset);
  packer.value(node.length);
  packer.value(node.count);
  packer.value(node.stride);
  switch (node.form) {
    case Node::Form::kRuns:
      for (MPI_Count i = 0; i < node.count; ++i) {
        packer.value(node.runs[i].offset);
        packer.value(node.runs[i + 1].start - node.runs[i].start);
      }
      break;
    case Node::Form::kLoop:
      pack_node(packer, *node.child);
      break;
    case Node::Form::kList:
      for (MPI_Count i = 0; i < node.count; ++i) {
        packer.value(node.parts[i].offset);
        pack_node(packer, *node.parts[i].node);
      }
      break;
    default:
      break;
  }
}

std::shared_ptr<const Layout> moved_by(MPI_Count offset, MPI_Count count, MPI_Count stride,
                                       std::shared_ptr<const Layout> child) {
  return Layout::of_blocks(offset, count, 1, stride, 0, std::move(child));
}

std::shared_ptr<const Layout> unpack_node(Unpacker& unpacker) {
  const auto form = unpacker.value<Node::Form>();
  const auto offset = unpacker.value<MPI_Count>(), length = unpacker.value<MPI_Count>();
  const auto count = unpacker.value<MPI_Count>(), stride = unpacker.value<MPI_Count>();
  switch (form) {
    case Node::Form::kEmpty:
      return Layout::of_runs({});
    case Node::Form::kRun:
      return Layout::of_runs({{offset, length}});
    case Node::Form::kBlocks:
      return moved_by(offset, count, stride, Layout::of_runs({{0, length}}));
    case Node::Form::kRuns: {
      std::vector<std::pair<MPI_Count, MPI_Count>> runs;
      for (MPI_Count i = 0; i < count; ++i) {
        const auto at = unpacker.value<MPI_Count>();
        runs.emplace_back(offset + at, unpacker.value<MPI_Count>());
      }
      return Layout::of_runs(runs);
    }
    case Node::Form::kLoop:
      return moved_by(offset, count, stride, unpack_node(unpacker));
    case Node::Form::kList: {
      std::vector<std::shared_ptr<const Layout>> children;
      std::vector<LayoutBlock> blocks;
      for (MPI_Count i = 0; i < count; ++i) {
        const auto at = unpacker.value<MPI_Count>();
        children.push_back(unpack_node(unpacker));
        blocks.push_back({1, offset + at, 0, nullptr});
      }
      for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].layout = &children[i];
      return Layout::of_list(blocks);
    }
  }
  std::abort();
}

}  // namespace

TypeView view_of(const Datatype& type) {
  return {type.shared_layout(), type.size(),        type.extent(),
          type.true_lb(),       type.true_extent(), type.predefined() ? &type : nullptr};
}

void pack_type(Packer& packer, const Datatype& type) {
  packer.value(type.size());
  packer.value(type.extent());
  packer.value(type.true_lb());
  packer.value(type.true_extent());
  const Datatype* const basic = basic_type_of(type);
  packer.value(basic == nullptr ? std::uintptr_t{0}
                                : reinterpret_cast<std::uintptr_t>(common_handle(*basic)));
  pack_node(packer, type.layout().root());
}

TypeView unpack_type(Unpacker& unpacker) {
  TypeView view;
  view.size = unpacker.value<MPI_Count>();
  view.extent = unpacker.value<MPI_Count>();
  view.true_lb = unpacker.value<MPI_Count>();
  view.true_extent = unpacker.value<MPI_Count>();
  const auto basic = unpacker.value<std::uintptr_t>();
  view.basic = basic == 0 ? nullptr : datatype_from(reinterpret_cast<MPI_Datatype>(basic));
  view.layout = unpack_node(unpacker);
  return view;
}

MPI_Datatype common_handle(const Datatype& basic) noexcept {
  if (is_predefined(basic.handle())) return basic.handle();
  for (const Datatype* type : predefined_types) {
    if (type != nullptr && type->kind() == basic.kind() && type->size() == basic.size())
      return type->handle();
  }
  return MPI_BYTE;
}

}  // namespace tmpi::mpi::rma
