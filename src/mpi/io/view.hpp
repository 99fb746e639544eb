// View: which bytes of a file a rank sees: from byte `disp` on, the data of its filetype, repeated without end
// (MPI report, 14.3). They are one stream, of which an offset is a number of etypes. Immutable; operations under
// way keep theirs. A filetype whose repetitions go backwards (an extent smaller than the data) is allowed; its
// stream is then not in the order of the file. docs/design/files.md.
#pragma once

#include <array>
#include <memory>

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/layout.hpp"
#include "mpi/datatype/node.hpp"

namespace tmpi::mpi {

class Representation;

class View {
 public:
  /// `etype` and `filetype` are as the user gave them, the file_ ones as they are in the file (the same in the
  /// native representation, `representation` null). Holds references.
  View(MPI_Offset disp, const Datatype& etype, const Datatype& filetype, const Datatype& file_etype,
       const Datatype& file_filetype, std::shared_ptr<const Representation> representation);
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  /// What a file has when it is opened: its bytes.
  static std::shared_ptr<const View> bytes();
  /// MPI_ERR_ARG, MPI_ERR_TYPE: what cannot be a view: a negative displacement, types that are no multiples of
  /// each other, offsets that are negative or go back.
  static Err check(MPI_Offset disp, const Datatype& etype, const Datatype& filetype);
  /// The same of the types alone, committed or not.
  static Err check_types(const Datatype& etype, const Datatype& filetype);

  MPI_Offset disp() const noexcept { return disp_; }
  const Datatype& etype() const noexcept { return etype_; }
  const Datatype& filetype() const noexcept { return filetype_; }
  const Representation* representation() const noexcept { return representation_.get(); }
  /// Bytes of an etype in the file.
  MPI_Count unit() const noexcept { return unit_; }
  /// Nothing of the file is visible.
  bool empty() const noexcept { return file_filetype_.size() == 0; }
  /// All bytes from `disp` on.
  bool contiguous() const noexcept { return contiguous_; }
  /// Bytes [begin, end) of the stream lie in the file in their order.
  bool ascending(MPI_Count begin, MPI_Count end) const noexcept {
    return ascending_ || begin / tile_ == (end - 1) / tile_;
  }
  /// Bytes of the stream that are neighbours in the file, on average.
  MPI_Count average_run() const noexcept { return average_run_; }

  /// All of the stream before byte `end` lies at offsets that there are.
  bool reaches(MPI_Count end) const noexcept;
  /// Where byte `position` of the stream is in the file.
  MPI_Offset offset_of(MPI_Count position) const noexcept;
  /// Bytes of the stream up to the last one that lies before byte `offset` of the file. If the whole stream is
  /// ascending, that are all that do.
  MPI_Count bytes_before(MPI_Offset offset) const noexcept;
  /// Where in bytes [begin, end) of the stream, which are ascending, those begin that are not before byte `offset`.
  MPI_Count first_from(MPI_Offset offset, MPI_Count begin, MPI_Count end) const noexcept;

 private:
  friend class ViewCursor;
  const Node& tile_node() const noexcept { return file_filetype_.layout().root(); }

  const MPI_Offset disp_;
  const Datatype& etype_;
  const Datatype& filetype_;
  const Datatype& file_etype_;
  const Datatype& file_filetype_;
  const std::shared_ptr<const Representation> representation_;
  const MPI_Count unit_;
  const MPI_Count tile_;    // bytes of the stream in one repetition of the filetype,
  const MPI_Count extent_;  // which stand this far apart
  const bool contiguous_;
  const bool ascending_;
  const MPI_Count average_run_;
};

/// Walks the runs of a view's stream. The view outlives it.
class ViewCursor {
 public:
  /// At byte `position` of the stream.
  ViewCursor(const View& view, MPI_Count position);

  MPI_Offset offset() const noexcept { return offset_; }  ///< in the file
  MPI_Count length() const noexcept {
    return length_;
  }  ///< bytes from here on that are neighbours; at least 1
  /// At most length() bytes further on.
  void advance(MPI_Count bytes) noexcept {
    if (bytes < length_) {
      offset_ += bytes;
      length_ -= bytes;
    } else {
      next();
    }
  }

 private:
  struct Frame {
    const Node* node;
    MPI_Offset base;
    MPI_Count index;
  };
  static constexpr int kInlineFrames = 8;

  void descend(const Node& node, MPI_Offset base, MPI_Count from) noexcept;
  void next() noexcept;

  const View* view_;
  MPI_Offset tile_base_ = 0;
  MPI_Offset offset_ = 0;
  MPI_Count length_ = 0;
  int top_ = 0;
  std::array<Frame, kInlineFrames> inline_;
  std::unique_ptr<Frame[]> more_;  // only for filetypes nested deeper than that
  Frame* frames() noexcept { return more_ != nullptr ? more_.get() : inline_.data(); }
};

}  // namespace tmpi::mpi
