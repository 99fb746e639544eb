#include "mpi/io/view.hpp"

#include <algorithm>
#include <limits>

#include "mpi/datatype/check.hpp"

namespace tmpi::mpi {
namespace {

constexpr MPI_Count kEndless = std::numeric_limits<MPI_Count>::max() / 4;

// Where a node's data begin and end, and whether they are in ascending order, which loops show by their first
// repetition.
struct Span {
  MPI_Offset first, end;
  bool ascending = true;
};

Span repeated_span(const Node& node, const Span& child) noexcept {
  const MPI_Offset last = (node.count - 1) * node.stride;
  return {std::min(child.first, child.first + last), std::max(child.end, child.end + last),
          child.ascending && (node.count == 1 || child.first + node.stride >= child.end)};
}

Span span_of(const Node& node) noexcept {
  Span span{};
  switch (node.form) {
    case Node::Form::kEmpty:
      return {0, 0};
    case Node::Form::kRun:
      span = {0, node.length};
      break;
    case Node::Form::kBlocks:
      span = repeated_span(node, {0, node.length});
      break;
    case Node::Form::kLoop:
      span = repeated_span(node, span_of(*node.child));
      break;
    case Node::Form::kRuns:
      span = {node.runs[0].offset, node.runs[0].offset};
      for (MPI_Count i = 0; i < node.count; ++i) {
        const MPI_Offset begin = node.runs[i].offset;
        span.ascending = span.ascending && begin >= span.end;
        span.first = std::min(span.first, begin);
        span.end = std::max(span.end, begin + node.runs[i + 1].start - node.runs[i].start);
      }
      break;
    case Node::Form::kList:
      for (MPI_Count i = 0; i < node.count; ++i) {
        const Span part = span_of(*node.parts[i].node);
        const MPI_Offset shift = node.parts[i].offset;
        if (i == 0) span = {part.first + shift, part.first + shift};
        span.ascending = span.ascending && part.ascending && part.first + shift >= span.end;
        span.first = std::min(span.first, part.first + shift);
        span.end = std::max(span.end, part.end + shift);
      }
      break;
  }
  return {span.first + node.offset, span.end + node.offset, span.ascending};
}

bool tiles_ascend(const Datatype& filetype) noexcept {
  const Span span = span_of(filetype.layout().root());
  return span.first + filetype.extent() >= span.end;
}

const Datatype& byte_type() noexcept {
  return *datatype_from(MPI_BYTE);
}

}  // namespace

View::View(MPI_Offset disp, const Datatype& etype, const Datatype& filetype, const Datatype& file_etype,
           const Datatype& file_filetype, std::shared_ptr<const Representation> representation)
    : disp_(disp),
      etype_(etype),
      filetype_(filetype),
      file_etype_(file_etype),
      file_filetype_(file_filetype),
      representation_(std::move(representation)),
      unit_(std::max<MPI_Count>(1, file_etype.size())),
      tile_(std::max<MPI_Count>(1, file_filetype.size())),
      extent_(file_filetype.extent()),
      contiguous_(file_filetype.contiguous()),
      ascending_(tiles_ascend(file_filetype)),
      average_run_(
          contiguous_ ? kEndless
                      : std::max<MPI_Count>(1, static_cast<MPI_Count>(static_cast<double>(tile_) /
                                                                      std::max(1.0, runs_of(tile_node()))))) {
  for (const Datatype* type : {&etype_, &filetype_, &file_etype_, &file_filetype_}) type->retain();
}

View::~View() {
  for (const Datatype* type : {&etype_, &filetype_, &file_etype_, &file_filetype_}) type->release();
}

std::shared_ptr<const View> View::bytes() {
  const Datatype& byte = byte_type();
  return std::make_shared<const View>(0, byte, byte, byte, byte, nullptr);
}

Err View::check(MPI_Offset disp, const Datatype& etype, const Datatype& filetype) {
  if (disp < 0) return fail(MPI_ERR_ARG, "disp is {}: it must not be negative", disp);
  if (!etype.committed() || !filetype.committed()) return uncommitted_type();
  return check_types(etype, filetype);
}

Err View::check_types(const Datatype& etype, const Datatype& filetype) {
  if (etype.size() == 0)
    return fail(MPI_ERR_TYPE, "the etype has no data, so that no offset can be counted in it");
  if (filetype.size() == 0) return kOk;  // nothing of the file is visible, as to a member without a part
  if (filetype.size() % etype.size() != 0)
    return fail(MPI_ERR_TYPE,
                "the filetype has {} bytes of data, which is no multiple of the etype's {}: it must be made "
                "of etypes",
                filetype.size(), etype.size());
  const Span span = span_of(filetype.layout().root());
  if (span.first < 0)
    return fail(MPI_ERR_TYPE, "the filetype begins at byte {}: its displacements must not be negative",
                span.first);
  if (!span.ascending)
    return fail(
        MPI_ERR_TYPE,
        "the displacements of the filetype go back: in a filetype each has to lie behind the one before it");
  if (filetype.extent() <= 0)
    return fail(MPI_ERR_TYPE, "the extent of the filetype is {}: it has to be positive", filetype.extent());
  return kOk;
}

bool View::reaches(MPI_Count end) const noexcept {
  const __int128 tiles = contiguous_ ? 0 : static_cast<__int128>(end / tile_) + 1;
  const __int128 furthest = contiguous_
                                ? static_cast<__int128>(end)
                                : tiles * extent_ + file_filetype_.true_lb() + file_filetype_.true_extent();
  return disp_ + furthest <= std::numeric_limits<MPI_Offset>::max();
}

MPI_Offset View::offset_of(MPI_Count position) const noexcept {
  if (empty()) return disp_;
  return contiguous_ ? disp_ + position : ViewCursor(*this, position).offset();
}

MPI_Count View::bytes_before(MPI_Offset offset) const noexcept {
  if (offset <= disp_ || empty()) return 0;
  if (contiguous_) return offset - disp_;
  // Of the last repetition that begins before it, the first byte that does not lie there, or its end.
  const MPI_Offset first = offset_of(0);
  if (offset <= first) return 0;
  const MPI_Count tile = (offset - first - 1) / extent_;
  return first_from(offset, tile * tile_, (tile + 1) * tile_);
}

MPI_Count View::first_from(MPI_Offset offset, MPI_Count begin, MPI_Count end) const noexcept {
  while (begin < end) {
    const MPI_Count middle = begin + (end - begin) / 2;
    if (offset_of(middle) < offset) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

ViewCursor::ViewCursor(const View& view, MPI_Count position) : view_(&view) {
  if (view.contiguous_) {
    offset_ = view.disp_ + position;
    length_ = kEndless;
    return;
  }
  const Node& node = view.tile_node();
  if (node.depth > kInlineFrames) more_ = std::make_unique<Frame[]>(node.depth);
  tile_base_ = view.disp_ + position / view.tile_ * view.extent_;
  descend(node, tile_base_, position % view.tile_);
}

namespace {

template <class Entry>
MPI_Count entry_at(const Entry* entries, MPI_Count count, MPI_Count position) noexcept {
  const Entry* after =
      std::upper_bound(entries, entries + count, position,
                       [](MPI_Count value, const Entry& entry) { return value < entry.start; });
  return after - entries - 1;
}

}  // namespace

void ViewCursor::descend(const Node& root, MPI_Offset base, MPI_Count from) noexcept {
  const Node* node = &root;
  for (;;) {
    base += node->offset;
    MPI_Count index = 0;
    switch (node->form) {
      case Node::Form::kEmpty:  // a filetype has data, and no part of a layout is empty
      case Node::Form::kRun:
        offset_ = base + from;
        length_ = node->length - from;
        return;
      case Node::Form::kBlocks:
        index = from / node->length;
        frames()[top_++] = {node, base, index};
        offset_ = base + index * node->stride + from % node->length;
        length_ = node->length - from % node->length;
        return;
      case Node::Form::kRuns:
        index = entry_at(node->runs, node->count, from);
        frames()[top_++] = {node, base, index};
        offset_ = base + node->runs[index].offset + from - node->runs[index].start;
        length_ = node->runs[index + 1].start - from;
        return;
      case Node::Form::kLoop:
        index = from / node->child->size;
        frames()[top_++] = {node, base, index};
        base += index * node->stride;
        from %= node->child->size;
        node = node->child;
        break;
      case Node::Form::kList:
        index = entry_at(node->parts, node->count, from);
        frames()[top_++] = {node, base, index};
        base += node->parts[index].offset;
        from -= node->parts[index].start;
        node = node->parts[index].node;
        break;
    }
  }
}

void ViewCursor::next() noexcept {
  if (view_->contiguous_) return;  // nobody comes to its end
  while (top_ > 0) {
    Frame& frame = frames()[top_ - 1];
    const Node& node = *frame.node;
    const MPI_Count index = ++frame.index;
    if (index == node.count) {
      --top_;
      continue;
    }
    switch (node.form) {
      case Node::Form::kBlocks:
        offset_ = frame.base + index * node.stride;
        length_ = node.length;
        return;
      case Node::Form::kRuns:
        offset_ = frame.base + node.runs[index].offset;
        length_ = node.runs[index + 1].start - node.runs[index].start;
        return;
      case Node::Form::kLoop:
        return descend(*node.child, frame.base + index * node.stride, 0);
      default:
        return descend(*node.parts[index].node, frame.base + node.parts[index].offset, 0);
    }
  }
  tile_base_ += view_->extent_;
  descend(view_->tile_node(), tile_base_, 0);
}

}  // namespace tmpi::mpi
