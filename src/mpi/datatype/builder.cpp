#include "mpi/datatype/builder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tmpi::mpi {

namespace {

using Wide = __int128;

bool fits(Wide value) noexcept {
  return value >= std::numeric_limits<MPI_Count>::min() && value <= std::numeric_limits<MPI_Count>::max();
}

/// Adds all * each, none of them negative, to a sum that fits; false if it then does not.
bool add_product(Wide& sum, Wide all, MPI_Count each) noexcept {
  Wide product;
  if (__builtin_mul_overflow(all, static_cast<Wide>(each), &product) || !fits(product)) return false;
  sum += product;
  return fits(sum);
}

/// Lower and upper end of what has been included so far.
struct Span {
  MPI_Count lo = std::numeric_limits<MPI_Count>::max();
  MPI_Count hi = std::numeric_limits<MPI_Count>::min();
  bool any = false;
  bool overflow = false;

  void include(Wide from, Wide to) noexcept {
    if (!fits(from) || !fits(to) || !fits(to - from)) {
      overflow = true;
      return;
    }
    lo = std::min(lo, static_cast<MPI_Count>(from));
    hi = std::max(hi, static_cast<MPI_Count>(to));
    any = true;
  }
};

/// Accumulates bounds over the blocks of a type map.
class Bounds {
 public:
  void include(MPI_Count length, Wide displacement, const Datatype& type) noexcept {
    if (length == 0) return;
    const Wide last = displacement + static_cast<Wide>(length - 1) * type.extent();
    const Wide lo = std::min(displacement, last);
    const Wide hi = std::max(displacement, last);
    if (type.size() > 0) data_.include(lo + type.true_lb(), hi + type.true_lb() + type.true_extent());
    if (type.explicit_bounds()) markers_.include(lo + type.lb(), hi + type.lb() + type.extent());
    alignment_ = std::max(alignment_, type.alignment());
  }

  void add_data(MPI_Count times, MPI_Count length, const Datatype& type) noexcept {
    const Wide all = static_cast<Wide>(times) * length;
    overflow_ =
        overflow_ || !add_product(size_, all, type.size()) || !add_product(elements_, all, type.elements());
  }

  bool overflow() const noexcept { return overflow_ || data_.overflow || markers_.overflow; }
  MPI_Count size() const noexcept { return static_cast<MPI_Count>(size_); }
  MPI_Count elements() const noexcept { return static_cast<MPI_Count>(elements_); }
  MPI_Count alignment() const noexcept { return alignment_; }
  bool explicit_bounds() const noexcept { return markers_.any; }
  MPI_Count true_lb() const noexcept { return data_.any ? data_.lo : 0; }
  MPI_Count true_extent() const noexcept { return data_.any ? data_.hi - data_.lo : 0; }
  MPI_Count lb() const noexcept { return markers_.any ? markers_.lo : true_lb(); }
  /// Without explicit bounds the extent is rounded up to the alignment, as the size of a C struct is.
  MPI_Count extent() const noexcept {
    if (markers_.any) return markers_.hi - markers_.lo;
    const MPI_Count rest = true_extent() % alignment_;
    return rest == 0 ? true_extent() : true_extent() + alignment_ - rest;
  }

 private:
  Span data_;
  Span markers_;
  MPI_Count alignment_ = 1;
  Wide size_ = 0;
  Wide elements_ = 0;
  bool overflow_ = false;
};

Err too_large() {
  return fail(MPI_ERR_COUNT,
              "the new datatype's size or extent exceeds what MPI_Count can hold (2^63 - 1 bytes); check "
              "counts, block "
              "lengths and displacements for values that were never set");
}

bool is_contiguous(const Node& root, MPI_Count size, MPI_Count extent) noexcept {
  if (size != extent) return false;
  return root.empty() || (root.form == Node::Form::kRun && root.offset == 0);
}

bool is_scattered(const Node& root, bool contiguous) noexcept {
  constexpr double kShortRun = 256;
  return !contiguous && static_cast<double>(root.size) / kShortRun < runs_of(root);
}

/// True if all blocks have one type and length and stand equally far apart: then they are a strided loop.
bool regular(const std::vector<Block>& blocks, MPI_Count& stride) noexcept {
  stride = blocks.size() > 1 ? blocks[1].displacement - blocks[0].displacement : 0;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    if (blocks[i].type != blocks[0].type || blocks[i].length != blocks[0].length) return false;
    if (blocks[i].displacement - blocks[i - 1].displacement != stride) return false;
  }
  return !blocks.empty();
}

std::shared_ptr<const Layout> layout_of(const std::vector<Block>& blocks) {
  if (MPI_Count stride = 0; regular(blocks, stride)) {
    const Block& first = blocks[0];
    return Layout::of_blocks(first.displacement, static_cast<MPI_Count>(blocks.size()), first.length, stride,
                             first.type->extent(), first.type->shared_layout());
  }
  std::vector<LayoutBlock> list;
  list.reserve(blocks.size());
  for (const Block& block : blocks)
    list.push_back({block.length, block.displacement, block.type->extent(), &block.type->shared_layout()});
  return Layout::of_list(list);
}

}  // namespace

Datatype* DatatypeBuilder::create(Description description) {
  auto kept = std::make_unique<const Description>(std::move(description));
  auto* type = new Datatype;
  for (const Datatype* old : kept->types) old->retain();
  type->description_ = std::move(kept);
  return type;
}

template <class B>
void DatatypeBuilder::finish(Datatype& type, const B& bounds, std::shared_ptr<const Layout> layout) {
  type.size_ = bounds.size();
  type.elements_ = bounds.elements();
  type.alignment_ = bounds.alignment();
  type.lb_ = bounds.lb();
  type.extent_ = bounds.extent();
  type.true_lb_ = bounds.true_lb();
  type.true_extent_ = bounds.true_extent();
  type.explicit_bounds_ = bounds.explicit_bounds();
  type.layout_ = std::move(layout);
  type.contiguous_ = is_contiguous(type.layout_->root(), type.size_, type.extent_);
  type.scattered_ = is_scattered(type.layout_->root(), type.contiguous_);
}

Err DatatypeBuilder::strided(Description description, MPI_Count count, MPI_Count length, MPI_Count stride,
                             const Datatype& old, Datatype*& out) {
  Bounds bounds;
  if (count > 0) {
    bounds.include(length, 0, old);
    bounds.include(length, static_cast<Wide>(count - 1) * stride, old);
    bounds.add_data(count, length, old);
  }
  if (bounds.overflow()) return too_large();
  auto layout = Layout::of_blocks(0, count, length, stride, old.extent(), old.layout_);
  out = create(std::move(description));  // nothing fails behind it
  finish(*out, bounds, std::move(layout));
  return kOk;
}

Err DatatypeBuilder::blocks(Description description, const std::vector<Block>& blocks, Datatype*& out) {
  Bounds bounds;
  for (const Block& block : blocks) {
    bounds.include(block.length, block.displacement, *block.type);
    bounds.add_data(1, block.length, *block.type);
    if (bounds.overflow()) return too_large();
  }
  auto layout = layout_of(blocks);
  out = create(std::move(description));  // nothing fails behind it
  finish(*out, bounds, std::move(layout));
  return kOk;
}

Err DatatypeBuilder::resized(Description description, const Datatype& old, MPI_Count lb, MPI_Count extent,
                             Datatype*& out) {
  if (!fits(static_cast<Wide>(lb) + extent)) return too_large();
  out = create(std::move(description));
  out->size_ = old.size_;
  out->elements_ = old.elements_;
  out->alignment_ = old.alignment_;
  out->lb_ = lb;
  out->extent_ = extent;
  out->true_lb_ = old.true_lb_;
  out->true_extent_ = old.true_extent_;
  out->explicit_bounds_ = true;
  out->layout_ = old.layout_;
  out->contiguous_ = is_contiguous(out->layout_->root(), out->size_, out->extent_);
  out->scattered_ = is_scattered(out->layout_->root(), out->contiguous_);
  return kOk;
}

Err DatatypeBuilder::duplicate(Description description, const Datatype& old, Datatype*& out) {
  TMPI_TRY(resized(std::move(description), old, old.lb_, old.extent_, out));
  out->explicit_bounds_ = old.explicit_bounds_;
  out->committed_ = old.committed_;
  return kOk;
}

Datatype* DatatypeBuilder::predefined(const Predefined& row) {
  Description description;
  auto* type = create(std::move(description));
  type->name_ = row.name;
  type->handle_ = row.handle;
  type->kind_ = row.kind;
  type->group_ = row.group;
  type->committed_ = true;
  type->alignment_ = row.alignment;
  type->elements_ = static_cast<MPI_Count>(row.elements.size());
  for (const auto& [offset, size] : row.elements) {
    type->size_ += size;
    type->true_extent_ = std::max(type->true_extent_, offset + size);
  }
  type->extent_ = (type->true_extent_ + row.alignment - 1) / row.alignment * row.alignment;
  type->layout_ = Layout::of_runs(row.elements);
  type->contiguous_ = is_contiguous(type->layout_->root(), type->size_, type->extent_);
  type->scattered_ = is_scattered(type->layout_->root(), type->contiguous_);
  return type;
}

Datatype* DatatypeBuilder::unnamed(Description description, const Datatype& like) {
  auto* type = create(std::move(description));
  type->size_ = like.size_;
  type->elements_ = like.elements_;
  type->alignment_ = like.alignment_;
  type->extent_ = like.extent_;
  type->true_extent_ = like.true_extent_;
  type->kind_ = like.kind_;
  type->group_ = like.group_;
  type->layout_ = like.layout_;
  type->contiguous_ = like.contiguous_;
  type->scattered_ = like.scattered_;
  type->committed_ = true;
  type->handle_ = reinterpret_cast<MPI_Datatype>(type);
  return type;
}

}  // namespace tmpi::mpi
