#include "mpi/datatype/layout.hpp"

#include <algorithm>

namespace tmpi::mpi {

namespace {

/// Inner loops and run lists of up to this many runs are unrolled into the list around them, so that a struct
/// of small arrays is one flat list of runs. Bounds the memory of a normal form to a small multiple of the
/// description's.
constexpr MPI_Count kUnrollRuns = 8;
/// Lists of parts of up to this many entries are spliced into the list around them.
constexpr MPI_Count kSpliceParts = 16;

}  // namespace

/// Collects pieces in type-map order. Runs gather in a pending run list that becomes one part when something
/// else follows.
class ListBuilder {
 public:
  explicit ListBuilder(Layout& layout) : layout_(layout) {}

  void add(const Node& node, MPI_Count offset) {
    switch (node.form) {
      case Node::Form::kEmpty:
        return;
      case Node::Form::kRun:
        return add_run(offset + node.offset, node.length);
      case Node::Form::kBlocks:
        if (node.count > kUnrollRuns) break;
        for (MPI_Count i = 0; i < node.count; ++i)
          add_run(offset + node.offset + i * node.stride, node.length);
        return;
      case Node::Form::kRuns:
        if (node.count > kUnrollRuns) break;
        for (MPI_Count i = 0; i < node.count; ++i)
          add_run(offset + node.offset + node.runs[i].offset, node.runs[i + 1].start - node.runs[i].start);
        return;
      case Node::Form::kLoop:
        if (node.child->form != Node::Form::kRuns && node.child->form != Node::Form::kBlocks) break;
        if (node.count * node.child->count > kUnrollRuns) break;
        for (MPI_Count i = 0; i < node.count; ++i) add(*node.child, offset + node.offset + i * node.stride);
        return;
      case Node::Form::kList:
        if (node.count > kSpliceParts) break;
        for (MPI_Count i = 0; i < node.count; ++i)
          add(*node.parts[i].node, offset + node.offset + node.parts[i].offset);
        return;
    }
    add_part(node, offset);
  }

  Node finish() {
    flush_runs();
    if (parts_.empty()) return Node{};
    if (parts_.size() == 1) return shifted(*parts_[0].node, parts_[0].offset);
    Node list;
    list.form = Node::Form::kList;
    list.count = static_cast<MPI_Count>(parts_.size());
    list.size = size_;
    for (const Part& part : parts_) list.depth = std::max<unsigned short>(list.depth, part.node->depth + 1);
    parts_.push_back({0, size_, nullptr});
    layout_.parts_ = std::move(parts_);
    list.parts = layout_.parts_.data();
    return list;
  }

 private:
  void add_run(MPI_Count offset, MPI_Count length) {
    if (!runs_.empty() && runs_.back().first + runs_.back().second == offset)
      runs_.back().second += length;
    else
      runs_.emplace_back(offset, length);
  }

  void add_part(const Node& node, MPI_Count offset) {
    flush_runs();
    // The same node again and again (blocks of one shape) is kept once.
    if (last_kept_ == nullptr || !same(*last_kept_, node)) last_kept_ = layout_.keep(node);
    push(last_kept_, offset);
  }

  static bool same(const Node& a, const Node& b) noexcept {
    return a.form == b.form && a.size == b.size && a.offset == b.offset && a.length == b.length &&
           a.count == b.count && a.stride == b.stride && a.child == b.child;
  }

  void push(const Node* node, MPI_Count offset) {
    parts_.push_back({offset, size_, node});
    size_ += node->size;
  }

  void flush_runs() {
    if (runs_.empty()) return;
    const Node node = node_of_runs();
    runs_.clear();
    push(layout_.keep(node), 0);
  }

  /// One run, equally spaced equal runs, or a list of runs.
  Node node_of_runs() {
    const MPI_Count count = static_cast<MPI_Count>(runs_.size());
    const auto [offset, length] = runs_[0];
    if (count == 1) return run_node(offset, length);
    const MPI_Count stride = runs_[1].first - offset;
    bool equal = true;
    bool spaced = true;
    MPI_Count size = 0;
    for (MPI_Count i = 0; i < count; ++i) {
      equal = equal && runs_[i].second == length;
      spaced = spaced && runs_[i].first == offset + i * stride;
      size += runs_[i].second;
    }
    if (equal && spaced) return repeated(count, stride, run_node(offset, length));
    return list_of_runs(count, size, equal ? length : 0);
  }

  Node list_of_runs(MPI_Count count, MPI_Count size, MPI_Count length) {
    auto& stored = layout_.runs_.emplace_back();
    stored.reserve(runs_.size() + 1);
    MPI_Count start = 0;
    for (const auto& [run_offset, run_length] : runs_) {
      stored.push_back({run_offset, start});
      start += run_length;
    }
    stored.push_back({0, size});
    Node node;
    node.form = Node::Form::kRuns;
    node.count = count;
    node.size = size;
    node.length = length;
    node.runs = stored.data();
    return node;
  }

  Layout& layout_;
  std::vector<std::pair<MPI_Count, MPI_Count>> runs_;  // offset, length
  std::vector<Part> parts_;
  MPI_Count size_ = 0;
  const Node* last_kept_ = nullptr;
};

std::shared_ptr<const Layout> Layout::of_runs(const std::vector<std::pair<MPI_Count, MPI_Count>>& runs) {
  auto layout = std::make_shared<Layout>();
  ListBuilder list(*layout);
  for (const auto& [offset, length] : runs) list.add(run_node(offset, length), 0);
  layout->root_ = list.finish();
  return layout;
}

std::shared_ptr<const Layout> Layout::of_blocks(MPI_Count displacement, MPI_Count count, MPI_Count length,
                                                MPI_Count stride, MPI_Count extent,
                                                std::shared_ptr<const Layout> child) {
  if (displacement == 0 && count == 1 && length == 1) return child;
  auto layout = std::make_shared<Layout>();
  // The loop over blocks may point to the loop over elements, which then needs a place that stays.
  const Node block = repeated(length, extent, child->root());
  const Node* inner = count == 1 ? &block : layout->keep(block);
  layout->root_ = shifted(repeated(count, stride, *inner), displacement);
  layout->children_.push_back(std::move(child));
  return layout;
}

std::shared_ptr<const Layout> Layout::of_list(const std::vector<LayoutBlock>& blocks) {
  auto layout = std::make_shared<Layout>();
  ListBuilder list(*layout);
  const std::shared_ptr<const Layout>* previous = nullptr;
  for (const LayoutBlock& block : blocks) {
    if (block.length == 0) continue;
    list.add(repeated(block.length, block.extent, (*block.layout)->root()), block.displacement);
    if (previous != nullptr && previous->get() == block.layout->get()) continue;
    layout->children_.push_back(*block.layout);
    previous = block.layout;
  }
  layout->root_ = list.finish();
  return layout;
}

double runs_of(const Node& node) noexcept {
  switch (node.form) {
    case Node::Form::kEmpty:
      return 0;
    case Node::Form::kRun:
      return 1;
    case Node::Form::kBlocks:
    case Node::Form::kRuns:
      return static_cast<double>(node.count);
    case Node::Form::kLoop:
      return static_cast<double>(node.count) * runs_of(*node.child);
    case Node::Form::kList: {
      double runs = 0;
      for (MPI_Count i = 0; i < node.count; ++i) runs += runs_of(*node.parts[i].node);
      return runs;
    }
  }
  return 0;
}

}  // namespace tmpi::mpi
