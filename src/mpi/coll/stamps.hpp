// What is in a stamp (shm/stamp.hpp): what all members of a communicator must say alike in a collective call,
// as far as it is at hand without looking for it. From the lowest bit on:
//
//     function         in the slot ring the collective; else kAllTogether, kMaking, kReading
//     operator, kind   of a reduction, and of its elements
//     steps            tell algorithms apart
//     amount           bytes; in the slot ring the root, too
//     sequence         how often the members have come together in the other way (slot ring, or shared-memory
//                      barrier): tells that one of them has made another collective call
#pragma once

#include <cstdint>
#include <string_view>

#include "mpi/coll/args.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/shm/stamp.hpp"

namespace tmpi::mpi {

/// The data that all members of a collective in shared memory must say alike; a class of steps names it as
/// kAmount.
enum class Amount : unsigned char {
  kNone,
  kVector,        ///< of a reduction
  kRootedVector,  ///< and the root
  kChunks,        ///< of a reduction, the chunks of all members
  kBlock,         ///< what is received from each member, unless that may vary
};

namespace stamps {

struct Field {
  int first;
  int bits;
};
inline constexpr Field kFunction{0, 4}, kOperator{4, 4}, kKind{8, 5}, kSteps{13, 9}, kAmount{22, 36},
    kSequence{58, 6};
inline constexpr int kRootBits = 20;  // of the amount, in the slot ring
static_assert(kOperators + 1 < 1 << kOperator.bits && kKinds <= 1 << kKind.bits);

inline constexpr std::uint64_t kMaking = kCollectives, kAllTogether = kMaking + 1, kReading = kMaking + 2;
static_assert(kReading < 1 << kFunction.bits);

constexpr std::uint64_t get(Field field, Stamp stamp) noexcept {
  return stamp >> field.first & ((std::uint64_t{1} << field.bits) - 1);
}
constexpr Stamp put(Field field, std::uint64_t value) noexcept {
  return (value & ((std::uint64_t{1} << field.bits) - 1)) << field.first;
}
inline Stamp put_amount(MPI_Count amount) noexcept {
  return put(kAmount, static_cast<std::uint64_t>(amount));
}
inline Stamp put_sequence(std::uint64_t sequence) noexcept {
  return sequence << kSequence.first;
}

// FNV-1a of the class's name, when the library is compiled.
constexpr std::uint64_t hash(std::string_view text) noexcept {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value ^ value >> 32;
}
template <class Steps>
consteval Stamp steps() noexcept {
  // Not 0, which says that there is no stamp.
  const Stamp stamp = put(kSteps, hash(__PRETTY_FUNCTION__));
  return stamp != 0 ? stamp : put(kSteps, 1);
}

template <class Steps>
constexpr Amount amount_of() noexcept {
  if constexpr (requires { Steps::kAmount; }) {
    return Steps::kAmount;
  } else {
    return Amount::kNone;
  }
}

inline Stamp reduction(const Args& args) noexcept {
  const auto which = static_cast<std::uint64_t>(args.op->which);
  const auto kind = static_cast<std::uint64_t>(args.recv.type->kind());
  return (which + 1) << kOperator.first | kind << kKind.first;
}

inline MPI_Count vector_bytes(const Args& args) noexcept {
  return dense_bytes(*args.recv.type, args.recv.count);
}

// A number that is another one if a chunk is another one.
inline MPI_Count chunks(const Args& args, int members) noexcept {
  if (!args.recv.counts) return vector_bytes(args);
  std::uint64_t mixed = 0;
  for (int i = 0; i < members; ++i) {
    // Each by an odd factor of its own, without a pattern: one product need not wait for another.
    std::uint64_t factor = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15;
    factor ^= factor >> 32;
    mixed += static_cast<std::uint64_t>(args.recv.counts[i]) * (factor | 1);
  }
  return static_cast<MPI_Count>(mixed);
}

}  // namespace stamps

/// Of a member that comes to the shared-memory barrier. Before its sequence number is counted up.
template <class Steps>
[[gnu::always_inline]] inline Stamp stamp_together(const Comm& comm, const Args& args) noexcept {
  constexpr Amount kWhich = stamps::amount_of<Steps>();
  constexpr Stamp kBase = stamps::steps<Steps>() | stamps::kAllTogether;
  const Stamp stamp = kBase | stamps::put_sequence(comm.rooted_sequence);
  if constexpr (kWhich == Amount::kVector) {
    return stamp | stamps::reduction(args) | stamps::put_amount(stamps::vector_bytes(args));
  } else if constexpr (kWhich == Amount::kRootedVector) {
    return stamp | stamps::reduction(args) |
           stamps::put_amount(stamps::vector_bytes(args) ^ MPI_Count{args.root} * 0x9e3779b1);
  } else if constexpr (kWhich == Amount::kChunks) {
    return stamp | stamps::reduction(args) | stamps::put_amount(stamps::chunks(args, comm.size));
  } else if constexpr (kWhich == Amount::kBlock) {
    return stamp | (args.ragged ? 0 : stamps::put_amount(args.recv.whole().bytes()));
  } else {
    return stamp;
  }
}

/// Of a member that has come to the slot ring.
template <class Steps>
[[gnu::always_inline]] inline Stamp stamp_rooted(const Comm& comm, const Args& args) noexcept {
  const Stamp stamp =
      stamps::steps<Steps>() | static_cast<Stamp>(args.collective) | stamps::put_sequence(comm.coll_sequence);
  if constexpr (stamps::amount_of<Steps>() == Amount::kVector) {
    return stamp | stamps::reduction(args) | static_cast<Stamp>(args.root) << stamps::kAmount.first |
           static_cast<Stamp>(stamps::vector_bytes(args)) << (stamps::kAmount.first + stamps::kRootBits);
  } else {
    return stamp | stamps::put_amount(args.root);
  }
}

/// Of members that read out of their node leader's memory (hierarchy/parts.hpp).
inline Stamp stamp_of_reading(const Comm& node) noexcept {
  return stamps::kReading | stamps::put_sequence(node.coll_sequence);
}

/// Of members that make communicators with records of a type. Before the sequence number is counted up.
inline Stamp stamp_of_making(const Comm& comm, const void* record_type) noexcept {
  return stamps::kMaking | stamps::put_sequence(comm.rooted_sequence) |
         stamps::put_amount(reinterpret_cast<std::intptr_t>(record_type));
}

}  // namespace tmpi::mpi
