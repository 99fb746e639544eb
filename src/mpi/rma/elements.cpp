#include "mpi/rma/elements.hpp"

#include <algorithm>
#include <optional>

#include "mpi/datatype/message.hpp"

namespace tmpi::mpi {
namespace {

// Elements of any layout: by steps of an extent where that is enough.
class Places {
 public:
  Places(const Elements& elements, const Datatype& basic)
      : step_(basic.extent()), whole_(basic.contiguous()), address_(elements.address) {
    if (elements.type == nullptr || evenly_spaced(*elements.type, basic)) return;
    node_ = message_node(elements.count, *elements.type);
    walk_.emplace(node_, elements.address, basic.size());
  }
  Address address() const noexcept { return walk_ ? walk_->address() : address_; }
  // How many are one step apart, at most `wanted`.
  MPI_Count run(MPI_Count wanted) const noexcept {
    return !walk_ ? wanted : whole_ ? std::clamp<MPI_Count>(walk_->run(), 1, wanted) : 1;
  }
  void next(MPI_Count elements) noexcept {
    if (walk_) {
      walk_->next(elements);
    } else {
      address_ = moved(address_, elements * step_);
    }
  }

 private:
  const MPI_Count step_;
  const bool whole_;  // an element is one run
  Address address_;
  Node node_;
  std::optional<ElementWalk> walk_;
};

bool even(const Elements& elements, const Datatype& basic) noexcept {
  return elements.type == nullptr || evenly_spaced(*elements.type, basic);
}

}  // namespace

void combine_elements(const Combiner& combiner, Row& row, const Elements& target, const Elements& origin,
                      const Elements& result, MPI_Count elements) {
  const Datatype& basic = combiner.basic();
  if (elements == 0) return;
  const auto in = [&](Address address) {
    return origin.type != nullptr ? reinterpret_cast<void*>(address) : nullptr;
  };
  const auto out = [&](Address address) {
    return result.type != nullptr ? reinterpret_cast<void*>(address) : nullptr;
  };
  if (even(target, basic) && even(origin, basic) && even(result, basic)) {
    for (MPI_Count done = 0, run = 0; done < elements; done += run) {
      run = row.piece(elements - done);
      const MPI_Count offset = done * basic.extent();
      combiner.apply(moved(target.address, offset), in(moved(origin.address, offset)),
                     out(moved(result.address, offset)), run);
    }
    return;
  }
  Places there(target, basic), from(origin, basic), to(result, basic);
  for (MPI_Count left = elements;;) {
    const MPI_Count room = row.piece(left);
    const MPI_Count run = to.run(from.run(there.run(room)));
    row.give_back(room - run);
    combiner.apply(there.address(), in(from.address()), out(to.address()), run);
    if ((left -= run) == 0) return;
    there.next(run);
    from.next(run);
    to.next(run);
  }
}

void combine_layout(const Combiner& combiner, const Node& target, Address base, MPI_Count first,
                    const void* origin, void* result, MPI_Count elements) {
  const Datatype& basic = combiner.basic();
  if (elements == 0) return;
  if (target.form == Node::Form::kRun && basic.contiguous())
    return combiner.apply(moved(base, target.offset + first * basic.size()), origin, result, elements);
  ElementWalk walk(target, base, basic.size());
  walk.next(first);
  const MPI_Count extent = basic.extent();
  for (MPI_Count i = 0;;) {
    const MPI_Count run = basic.contiguous() ? std::clamp<MPI_Count>(walk.run(), 1, elements - i) : 1;
    combiner.apply(walk.address(),
                   origin == nullptr ? nullptr : static_cast<const std::byte*>(origin) + i * extent,
                   result == nullptr ? nullptr : static_cast<std::byte*>(result) + i * extent, run);
    if ((i += run) == elements) return;
    walk.next(run);
  }
}

}  // namespace tmpi::mpi
