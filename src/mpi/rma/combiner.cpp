#include "mpi/rma/combiner.hpp"

#include <atomic>
#include <mutex>

#include "base/platform.hpp"
#include "base/spinlock.hpp"
#include "base/wide.hpp"
#include "mpi/datatype/description.hpp"
#include "mpi/op/loops.hpp"
#include "mpi/rma/limits.hpp"

namespace tmpi::mpi {
namespace {

struct alignas(kCacheLine) Stripe {
  SpinLock lock;
};
Stripe g_stripes[rma::kElementLocks];

SpinLock& lock_of(Address element) noexcept {
  return g_stripes[element / kCacheLine % rma::kElementLocks].lock;
}

void copy_element(void* to, const void* from, const Datatype& basic, MPI_Count count) noexcept {
  if (basic.contiguous()) {
    std::memcpy(to, from, static_cast<std::size_t>(count * basic.size()));
  } else {
    (void)copy_typed(to, count, basic, from, count, basic);
  }
}

void* pointer(Address address) noexcept {
  return reinterpret_cast<void*>(address);
}

bool is_integer(Kind kind) noexcept {
  return kind >= Kind::kInt8 && kind <= Kind::kUint64 && kind != Kind::kInt128;
}

const void* advanced(const void* p, MPI_Count bytes) noexcept {
  return p == nullptr ? nullptr : static_cast<const std::byte*>(p) + bytes;
}
void* advanced(void* p, MPI_Count bytes) noexcept {
  return p == nullptr ? nullptr : static_cast<std::byte*>(p) + bytes;
}

template <class Word>
bool compare_and_swap_word(Address target, const void* origin, const void* compare, void* result) noexcept {
  if (target % sizeof(Word) != 0) return false;
  Word expected, desired;
  std::memcpy(&expected, compare, sizeof(Word));
  std::memcpy(&desired, origin, sizeof(Word));
  // acq_rel as all of them: programs build locks of these.
  std::atomic_ref<Word>(*static_cast<Word*>(pointer(target)))
      .compare_exchange_strong(expected, desired, std::memory_order_acq_rel);
  std::memcpy(result, &expected, sizeof(Word));
  return true;
}

}  // namespace

Combiner::Combiner(Operator which, const Datatype& basic, bool alone) noexcept
    : which_(which), basic_(basic), alone_(alone) {}

void Combiner::apply(Address target, const void* origin, void* result, MPI_Count count) const noexcept {
  if (alone_) return apply_alone(target, origin, result, count);
  const bool aligned = basic_.contiguous() && target % static_cast<Address>(basic_.size()) == 0;
  switch (aligned ? basic_.size() : 0) {
    case 1:
      return apply_row<std::uint8_t>(target, origin, result, count);
    case 2:
      return apply_row<std::uint16_t>(target, origin, result, count);
    case 4:
      return apply_row<std::uint32_t>(target, origin, result, count);
    case 8:
      return apply_row<std::uint64_t>(target, origin, result, count);
    default:
      return apply_locked(target, origin, result, count);
  }
}

void Combiner::apply_alone(Address target, const void* origin, void* result, MPI_Count count) const noexcept {
  if (result != nullptr) copy_element(result, pointer(target), basic_, count);
  if (which_ == Operator::kNoOp) return;
  if (which_ == Operator::kReplace) return copy_element(pointer(target), origin, basic_, count);
  loop_table().loops[static_cast<int>(which_)][static_cast<int>(basic_.kind())](origin, pointer(target),
                                                                                count);
}

void Combiner::apply_locked(Address target, const void* origin, void* result,
                            MPI_Count count) const noexcept {
  const MPI_Count extent = basic_.extent();
  for (MPI_Count i = 0; i < count; ++i) {
    const Address element = moved(target, i * extent);
    const std::scoped_lock guard(lock_of(element));
    apply_alone(element, advanced(origin, i * extent), advanced(result, i * extent), 1);
  }
}

// Several elements with one locked instruction: those that lie in aligned blocks of sixteen bytes.
template <class Word>
void Combiner::apply_row(Address target, const void* origin, void* result, MPI_Count count) const noexcept {
  constexpr MPI_Count kSize = sizeof(Word), kBlock = sizeof(Wide), kElements = kBlock / kSize;
  if (count < 2 * kElements || which_ == Operator::kNoOp)
    return apply_words<Word>(target, origin, result, count);
  const MPI_Count head = (kBlock - static_cast<MPI_Count>(target % kBlock)) % kBlock / kSize;
  const MPI_Count blocks = (count - head) / kElements, middle = blocks * kElements,
                  tail = count - head - middle;
  apply_words<Word>(target, origin, result, head);
  apply_wide(moved(target, head * kSize), static_cast<const std::byte*>(advanced(origin, head * kSize)),
             static_cast<std::byte*>(advanced(result, head * kSize)), blocks, kElements);
  const MPI_Count done = (head + middle) * kSize;
  apply_words<Word>(moved(target, done), advanced(origin, done), advanced(result, done), tail);
}

void Combiner::apply_wide(Address target, const std::byte* origin, std::byte* result, MPI_Count blocks,
                          MPI_Count elements) const noexcept {
  const bool replaces = which_ == Operator::kReplace;
  const ReduceLoop loop =
      replaces ? nullptr : loop_table().loops[static_cast<int>(which_)][static_cast<int>(basic_.kind())];
  auto* const there = static_cast<Wide*>(pointer(target));
  for (MPI_Count i = 0; i < blocks; ++i) {
    Wide operand, after;
    std::memcpy(&operand, origin + i * MPI_Count{sizeof(Wide)}, sizeof operand);
    Wide before = load_halves(there[i]);
    do {
      after = replaces ? operand : before;
      if (!replaces) loop(&operand, &after, elements);
    } while (!compare_exchange_wide(there[i], before, after));
    if (result != nullptr) std::memcpy(result + i * MPI_Count{sizeof(Wide)}, &before, sizeof before);
  }
}

template <class Word>
void Combiner::apply_words(Address target, const void* origin, void* result, MPI_Count count) const noexcept {
  auto* const words = static_cast<Word*>(pointer(target));
  const auto* in = static_cast<const std::byte*>(origin);
  auto* out = static_cast<std::byte*>(result);
  const auto each = [&](auto&& change) {
    for (MPI_Count i = 0; i < count; ++i) {
      Word operand = 0;
      if (in != nullptr) std::memcpy(&operand, in + i * static_cast<MPI_Count>(sizeof(Word)), sizeof(Word));
      const Word before = change(std::atomic_ref<Word>(words[i]), operand);
      if (out != nullptr) std::memcpy(out + i * static_cast<MPI_Count>(sizeof(Word)), &before, sizeof(Word));
    }
  };
  if (which_ == Operator::kNoOp)
    return each([](auto word, Word) { return word.load(std::memory_order_acquire); });
  if (which_ == Operator::kReplace)
    return each([](auto word, Word operand) { return word.exchange(operand, std::memory_order_acq_rel); });
  if (which_ == Operator::kSum && is_integer(basic_.kind()))
    return each([](auto word, Word operand) { return word.fetch_add(operand, std::memory_order_acq_rel); });
  const ReduceLoop loop = loop_table().loops[static_cast<int>(which_)][static_cast<int>(basic_.kind())];
  each([&](auto word, Word operand) {
    Word before = word.load(std::memory_order_relaxed), after;
    do {
      after = before;
      loop(&operand, &after, 1);
    } while (
        !word.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_relaxed));
    return before;
  });
}

void Combiner::compare_and_swap(Address target, const void* origin, const void* compare, void* result,
                                const Datatype& basic, bool alone) noexcept {
  const auto size = static_cast<std::size_t>(basic.size());
  if (!alone) {
    switch (size) {
      case 1:
        if (compare_and_swap_word<std::uint8_t>(target, origin, compare, result)) return;
        break;
      case 2:
        if (compare_and_swap_word<std::uint16_t>(target, origin, compare, result)) return;
        break;
      case 4:
        if (compare_and_swap_word<std::uint32_t>(target, origin, compare, result)) return;
        break;
      case 8:
        if (compare_and_swap_word<std::uint64_t>(target, origin, compare, result)) return;
        break;
      default:
        break;
    }
  }
  const std::scoped_lock guard(lock_of(target));
  const bool equal = std::memcmp(pointer(target), compare, size) == 0;
  std::memcpy(result, pointer(target), size);
  if (equal) std::memcpy(pointer(target), origin, size);
}

const Datatype* basic_type_of(const Datatype& type) noexcept {
  if (type.predefined()) return &type;
  const Datatype* common = nullptr;
  const Description& made = type.description();
  for (std::size_t i = 0; i < made.types.size(); ++i) {
    // What adds no data adds no element.
    const bool no_block = i < made.blocklengths.size() && made.blocklengths[i] == 0;
    if (no_block || made.types[i]->size() == 0) continue;
    const Datatype* const basic = basic_type_of(*made.types[i]);
    if (basic == nullptr || (common != nullptr && basic != common)) return nullptr;
    common = basic;
  }
  return common;
}

}  // namespace tmpi::mpi
