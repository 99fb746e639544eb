#include "mpi/datatype/cursor.hpp"

namespace tmpi::mpi {

Cursor::Cursor(const Node& node, Address base) noexcept {
  if (node.depth > kInlineFrames) {
    more_ = std::make_unique<Frame[]>(node.depth);
    frames_ = more_.get();
  }
  descend(node, base);
}

/// Goes down to the first run of `node`, leaving a frame for everything that has more to give.
void Cursor::descend(const Node& node, Address base) noexcept {
  const Node* at = &node;
  for (;;) {
    base = moved(base, at->offset);
    if (at->form == Node::Form::kRun || at->form == Node::Form::kBlocks) {
      run_ = address_ = base;
      block_ = length_ = at->length;
      stride_ = at->form == Node::Form::kBlocks ? at->stride : at->length;
      left_ = at->count - 1;
      return;
    }
    frames_[++top_] = {at, base, 1};
    if (at->form == Node::Form::kLoop) {
      at = at->child;
    } else if (at->form == Node::Form::kList) {
      base = moved(base, at->parts[0].offset);
      at = at->parts[0].node;
    } else {
      run_ = address_ = moved(base, at->runs[0].offset);
      block_ = length_ = stride_ = at->runs[1].start;
      left_ = 0;
      return;
    }
  }
}

void Cursor::next_batch() noexcept {
  while (top_ >= 0) {
    Frame& frame = frames_[top_];
    const Node& node = *frame.node;
    const MPI_Count index = frame.index++;
    if (index >= node.count) {
      --top_;
      continue;
    }
    if (node.form == Node::Form::kRuns) {
      run_ = address_ = moved(frame.base, node.runs[index].offset);
      block_ = length_ = stride_ = node.runs[index + 1].start - node.runs[index].start;
      return;
    }
    if (node.form == Node::Form::kLoop) return descend(*node.child, moved(frame.base, index * node.stride));
    return descend(*node.parts[index].node, moved(frame.base, node.parts[index].offset));
  }
  length_ = block_ = 0;  // the end
}

}  // namespace tmpi::mpi
