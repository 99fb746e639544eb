#include "check/collective.hpp"

#include <fmt/core.h>

#include <string_view>

namespace tmpi::check {
namespace {

/// MPI_Bcast and MPI_Bcast_c match each other.
std::string_view plain_name(const Function& function) {
  std::string_view name = function.name;
  if (function.large) name.remove_suffix(2);
  return name;
}

bool same_function(const Function& a, const Function& b) {
  return &a == &b || plain_name(a) == plain_name(b);
}

/// Types that may stand for any memory, so that only the amount of data says something.
bool raw(const mpi::Datatype& type) {
  return type.group() == mpi::KindGroup::kByte || type.group() == mpi::KindGroup::kPacked ||
         type.kind() == mpi::Kind::kNone || type.size() == 1;
}

bool differ(MPI_Count a, MPI_Count b) {
  return a != CollectiveCall::kNothing && b != CollectiveCall::kNothing && a != b;
}

/// Null: nothing.
const Agreed* first_difference(const CollectiveCall& a, const CollectiveCall& b) {
  for (std::size_t i = 0; i < a.agreed.size(); ++i) {
    const Agreed &here = a.agreed[i], &there = b.agreed[i];
    const bool compared = here.kind != nullptr && there.kind != nullptr && (here.binding || there.binding);
    if (compared && here.value != there.value) return &here;
  }
  return nullptr;
}

/// Whose members call together.
const char* owner(const Function& function) {
  switch (function.on) {
    case HandleKind::kWin:
      return "window";
    case HandleKind::kFile:
      return "file's communicator";
    default:
      return "communicator";
  }
}

std::string readable_op(std::uintptr_t op) {
  struct Named {
    MPI_Op op;
    const char* name;
  };
  static const Named kNames[] = {
      {MPI_SUM, "MPI_SUM"},     {MPI_MIN, "MPI_MIN"},         {MPI_MAX, "MPI_MAX"},
      {MPI_PROD, "MPI_PROD"},   {MPI_BAND, "MPI_BAND"},       {MPI_BOR, "MPI_BOR"},
      {MPI_BXOR, "MPI_BXOR"},   {MPI_LAND, "MPI_LAND"},       {MPI_LOR, "MPI_LOR"},
      {MPI_LXOR, "MPI_LXOR"},   {MPI_MINLOC, "MPI_MINLOC"},   {MPI_MAXLOC, "MPI_MAXLOC"},
      {MPI_NO_OP, "MPI_NO_OP"}, {MPI_REPLACE, "MPI_REPLACE"},
  };
  for (const Named& named : kNames) {
    if (reinterpret_cast<std::uintptr_t>(named.op) == op) return named.name;
  }
  return "one made by MPI_Op_create";
}

}  // namespace

bool same_type(const mpi::Datatype* a, const mpi::Datatype* b) noexcept {
  if (a == nullptr || b == nullptr || a == b || raw(*a) || raw(*b)) return true;
  return a->kind() == b->kind();
}

bool matches(const CollectiveCall& a, const CollectiveCall& b) noexcept {
  return same_function(*a.function, *b.function) && (!a.compares_root || a.root == b.root) && a.op == b.op &&
         !differ(a.count, b.count) && !differ(a.bytes, b.bytes) && same_type(a.type, b.type) &&
         first_difference(a, b) == nullptr;
}

std::string difference(const CollectiveCall& here, const CollectiveCall& there) {
  if (!same_function(*here.function, *there.function)) {
    return fmt::format(
        "All members of a {} must make the same collective calls in the same order: look for a branch or a "
        "loop "
        "that they do not all go through alike",
        owner(*here.function));
  }
  if (const Agreed* mine = first_difference(here, there)) {
    const Agreed& theirs = there.agreed[static_cast<std::size_t>(mine - here.agreed.data())];
    return fmt::format("The {} is {} here and {} there", mine->kind->name, mine->kind->readable(mine->value),
                       theirs.kind->readable(theirs.value));
  }
  if (here.compares_root && here.root != there.root)
    return fmt::format("The root is {} here and {} there", here.root, there.root);
  if (here.op != there.op)
    return fmt::format("The operator is {} here and {} there", readable_op(here.op), readable_op(there.op));
  if (differ(here.count, there.count))
    return fmt::format("The count is {} here and {} there", here.count, there.count);
  if (!same_type(here.type, there.type))
    return fmt::format("The datatype is {} here and {} there", here.type->name(), there.type->name());
  return fmt::format("The data is {} bytes here and {} there: count or datatype differ", here.bytes,
                     there.bytes);
}

}  // namespace tmpi::check
