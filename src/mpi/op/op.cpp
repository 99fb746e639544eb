#include "mpi/op/op.hpp"

#include <algorithm>
#include <limits>

#include "mpi/base/handles.hpp"
#include "mpi/base/no_memory.hpp"
#include "mpi/op/accepts.hpp"
#include "mpi/op/loops.hpp"

namespace tmpi::mpi {

namespace {

using GroupSet = unsigned;

template <class... Groups>
constexpr GroupSet groups(Groups... group) {
  return ((1u << static_cast<int>(group)) | ...);
}

constexpr GroupSet kOrdered =
    groups(KindGroup::kCInteger, KindGroup::kFortranInteger, KindGroup::kFloating, KindGroup::kMultiLanguage);
constexpr GroupSet kRing = kOrdered | groups(KindGroup::kComplex);
constexpr GroupSet kBits =
    groups(KindGroup::kCInteger, KindGroup::kFortranInteger, KindGroup::kByte, KindGroup::kMultiLanguage);
constexpr GroupSet kTruth = groups(KindGroup::kCInteger, KindGroup::kLogical);
// What is accepted beyond the report, because other implementations do.
constexpr GroupSet kMultiLanguage = groups(KindGroup::kMultiLanguage);
constexpr GroupSet kMultiLanguageAndFloating = kMultiLanguage | groups(KindGroup::kFloating);
constexpr GroupSet kPairs = groups(KindGroup::kPair);
constexpr GroupSet kAnyPredefined = ~groups(KindGroup::kDerived);

constexpr const char* kOrderedText =
    "C and Fortran integer, floating point types, MPI_AINT, MPI_OFFSET and MPI_COUNT";
constexpr const char* kRingText =
    "C and Fortran integer, floating point and complex types, MPI_AINT, MPI_OFFSET and MPI_COUNT";
constexpr const char* kBitsText = "C and Fortran integer types, MPI_BYTE, MPI_AINT, MPI_OFFSET and MPI_COUNT";
constexpr const char* kTruthText =
    "C integer and logical types (MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL), MPI_AINT, MPI_OFFSET and MPI_COUNT";
constexpr const char* kLxorText =
    "C integer, floating point and logical types (MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL), MPI_AINT, "
    "MPI_OFFSET and MPI_COUNT";
constexpr const char* kPairsText =
    "pair types (MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, "
    "MPI_2REAL, "
    "MPI_2DOUBLE_PRECISION, MPI_2INTEGER)";
constexpr const char* kAnyText = "predefined types";

/// On which types an operator is defined: MPI report, 6.9.2 and 6.9.4. In the order of Operator.
struct Rule {
  const char* name;
  MPI_Op handle;
  GroupSet groups;
  const char* text;  ///< what is accepted, in words
  GroupSet more = 0;
};
const Rule kRules[kOperators] = {
    {"MPI_SUM", MPI_SUM, kRing, kRingText},
    {"MPI_MIN", MPI_MIN, kOrdered, kOrderedText},
    {"MPI_MAX", MPI_MAX, kOrdered, kOrderedText},
    {"MPI_PROD", MPI_PROD, kRing, kRingText},
    {"MPI_BAND", MPI_BAND, kBits, kBitsText},
    {"MPI_BOR", MPI_BOR, kBits, kBitsText},
    {"MPI_BXOR", MPI_BXOR, kBits, kBitsText},
    {"MPI_LAND", MPI_LAND, kTruth, kTruthText, kMultiLanguage},
    {"MPI_LOR", MPI_LOR, kTruth, kTruthText, kMultiLanguage},
    {"MPI_LXOR", MPI_LXOR, kTruth, kLxorText, kMultiLanguageAndFloating},
    {"MPI_MINLOC", MPI_MINLOC, kPairs, kPairsText},
    {"MPI_MAXLOC", MPI_MAXLOC, kPairs, kPairsText},
    {"MPI_REPLACE", MPI_REPLACE, kAnyPredefined, kAnyText},
    {"MPI_NO_OP", MPI_NO_OP, kAnyPredefined, kAnyText},
};

constexpr std::uintptr_t kOpBase = 0x20;
constexpr std::uintptr_t kOpSlots = 0x20;
Op predefined[kOperators];
Op* slots[kOpSlots];

std::uintptr_t number(MPI_Op handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

const LoopTable* chosen_loops = &kLoopsBaseline;

bool fill_table() {
#if TMPI_LOOPS_AVX2
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) chosen_loops = &kLoopsAvx2;
#endif
  for (int i = 0; i < kOperators; ++i) {
    predefined[i].which = static_cast<Operator>(i);
    predefined[i].commutative =
        predefined[i].which != Operator::kReplace && predefined[i].which != Operator::kNoOp;
    predefined[i].handle = kRules[i].handle;
    slots[number(kRules[i].handle) - kOpBase] = &predefined[i];
  }
  return true;
}
// When the library is loaded, before any rank runs; after the array above it.
[[maybe_unused]] const bool filled = fill_table();

/// The callback's length is an int: longer vectors go in pieces.
void call_user(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type) {
  MPI_Datatype handle = handle_of(type);
  auto* a = static_cast<char*>(const_cast<void*>(in));
  auto* b = static_cast<char*>(inout);
  if (op.user_c != nullptr)
    return call_program("reduction operator", [&] { op.user_c(a, b, &count, &handle); });
  while (count > 0) {
    int piece = static_cast<int>(std::min<MPI_Count>(count, std::numeric_limits<int>::max()));
    const MPI_Count bytes = piece * type.extent();
    count -= piece;
    call_program("reduction operator", [&] { op.user(a, b, &piece, &handle); });
    a += bytes;
    b += bytes;
  }
}

}  // namespace

const LoopTable& loop_table() noexcept {
  return *chosen_loops;
}

void Op::release() const noexcept {
  if (predefined()) return;
  // Release orders this holder's use before the deletion, acquire the deletion after everybody's.
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const_cast<Op*>(this)->magic = 0;
  delete this;
}

Op* op_from(MPI_Op handle) noexcept {
  const std::uintptr_t value = number(handle);
  if (is_predefined(handle)) return value - kOpBase < kOpSlots ? slots[value - kOpBase] : nullptr;
  auto* op = reinterpret_cast<Op*>(handle);
  return value % alignof(Op) == 0 && op->magic == Op::kMagic ? op : nullptr;
}

MPI_Op handle_of(const Op& op) noexcept {
  return op.predefined() ? op.handle : reinterpret_cast<MPI_Op>(const_cast<Op*>(&op));
}

Err bad_op(MPI_Op handle) {
  if (handle == MPI_OP_NULL) return fail(MPI_ERR_OP, "the operator is MPI_OP_NULL: never created, or freed");
  return fail(MPI_ERR_OP, "{} is no reduction operator", static_cast<const void*>(handle));
}

Op* create_op(MPI_User_function* user, MPI_User_function_c* user_c, bool commutative) {
  Op* op = new Op;
  op->commutative = commutative;
  op->user = user;
  op->user_c = user_c;
  return op;
}

bool accepts(const Op& op, const Datatype& type) noexcept {
  if (!op.predefined()) return true;
  const Rule& rule = kRules[static_cast<int>(op.which)];
  return ((rule.groups | rule.more) >> static_cast<int>(type.group()) & 1u) != 0;
}

Err check_op(const Op& op, const Datatype& type) {
  if (accepts(op, type)) [[likely]]
    return kOk;
  const Rule& rule = kRules[static_cast<int>(op.which)];
  if (!type.predefined())
    return fail(MPI_ERR_OP,
                "{} is not defined on derived datatypes; it accepts {}. Use MPI_Op_create for an operator of "
                "your own",
                rule.name, rule.text);
  return fail(MPI_ERR_OP, "{} is not defined on {}; it accepts {}", rule.name, type.name(), rule.text);
}

bool beyond_the_report(const Op& op, const Datatype& type) noexcept {
  if (!op.predefined() || op.which == Operator::kReplace || op.which == Operator::kNoOp) return false;
  const Rule& rule = kRules[static_cast<int>(op.which)];
  const bool printable = type.handle() == MPI_CHAR && rule.groups != kPairs;
  return printable || (rule.more >> static_cast<int>(type.group()) & 1u) != 0;
}

const char* name_of(Operator which) noexcept {
  return which != Operator::kUser ? kRules[static_cast<int>(which)].name : "one made by MPI_Op_create";
}

void reduce_local(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type) {
  if (count == 0) return;
  switch (op.which) {
    case Operator::kUser:
      return call_user(op, in, inout, count, type);
    case Operator::kNoOp:
      return;
    case Operator::kReplace:
      (void)copy_typed(inout, count, type, in, count, type);
      return;
    default:
      loop_table().loops[static_cast<int>(op.which)][static_cast<int>(type.kind())](in, inout, count);
  }
}

}  // namespace tmpi::mpi
