// Arguments that all members give alike, of functions whose other arguments are each member's own: how windows are made
// and fences called, and what concerns a file as a whole. MPI report, 12.2.1, 12.5.1, 14.2, 14.3, 14.4.4 and 14.6.1.
#include <fmt/core.h>

#include <cstring>
#include <mutex>
#include <set>
#include <string_view>

#include "check/checked_call.hpp"
#include "mpi/rank/info.hpp"

namespace tmpi::check {
namespace {

std::string decimal(MPI_Count value) {
  return fmt::format("{}", value);
}
std::string whether_given(MPI_Count value) {
  return value != 0 ? "given" : "not given";
}
std::string readable_whence(MPI_Count value) {
  return value == MPI_SEEK_SET   ? "MPI_SEEK_SET"
         : value == MPI_SEEK_CUR ? "MPI_SEEK_CUR"
         : value == MPI_SEEK_END ? "MPI_SEEK_END"
                                 : decimal(value);
}

std::string readable_amode(MPI_Count value) {
  struct Named {
    int bit;
    const char* name;
  };
  static constexpr Named kNames[] = {
      {MPI_MODE_CREATE, "MPI_MODE_CREATE"},
      {MPI_MODE_EXCL, "MPI_MODE_EXCL"},
      {MPI_MODE_RDONLY, "MPI_MODE_RDONLY"},
      {MPI_MODE_WRONLY, "MPI_MODE_WRONLY"},
      {MPI_MODE_RDWR, "MPI_MODE_RDWR"},
      {MPI_MODE_DELETE_ON_CLOSE, "MPI_MODE_DELETE_ON_CLOSE"},
      {MPI_MODE_UNIQUE_OPEN, "MPI_MODE_UNIQUE_OPEN"},
      {MPI_MODE_SEQUENTIAL, "MPI_MODE_SEQUENTIAL"},
      {MPI_MODE_APPEND, "MPI_MODE_APPEND"},
  };
  std::string text;
  for (const Named& named : kNames) {
    if ((value & named.bit) == 0) continue;
    text += (text.empty() ? "" : " | ") + std::string(named.name);
    value &= ~MPI_Count{named.bit};
  }
  if (value != 0 || text.empty()) text += (text.empty() ? "" : " | ") + decimal(value);
  return text;
}

/// The name as it is for everybody; there are few, and a call's own may be gone when it is compared.
MPI_Count known_name(std::string_view name) {
  static std::mutex lock;
  static auto* const names = new std::set<std::string, std::less<>>;  // never destroyed
  const std::lock_guard guard(lock);
  return static_cast<MPI_Count>(reinterpret_cast<std::uintptr_t>(&*names->emplace(name).first));
}
std::string readable_name(MPI_Count value) {
  return fmt::format("\"{}\"", *reinterpret_cast<const std::string*>(static_cast<std::uintptr_t>(value)));
}

constexpr Agreed::Kind kAmode{"access mode", readable_amode};
constexpr Agreed::Kind kHintedSize{"size, of which the hint same_size says that it is the same,", decimal};
constexpr Agreed::Kind kHintedUnit{"disp_unit, of which the hint same_disp_unit says that it is the same,",
                                   decimal};
constexpr Agreed::Kind kNoPrecede{"assertion MPI_MODE_NOPRECEDE", whether_given};
constexpr Agreed::Kind kNoSucceed{"assertion MPI_MODE_NOSUCCEED", whether_given};
constexpr Agreed::Kind kFileSize{"size", decimal};
constexpr Agreed::Kind kDatarep{"data representation", readable_name};
constexpr Agreed::Kind kExtent{"extent of the etype", decimal};
constexpr Agreed::Kind kOffset{"offset", decimal};
constexpr Agreed::Kind kWhence{"whence", readable_whence};
constexpr Agreed::Kind kFlag{"flag", decimal};

bool hinted(MPI_Info handle, const char* key) {
  const mpi::Info* info = mpi::info_from(handle);
  return info != nullptr && info->is_true(key);
}

}  // namespace

void CheckedCall::describe_agreed(CollectiveCall& call) const {
  const auto argument = [&](std::size_t i) { return function_.agreed[i]; };
  const auto value = [&](std::size_t i) { return number(argument(i)); };
  switch (function_.match) {
    case Match::kOpen:
      call.agreed[0] = {&kAmode, value(0)};
      return;
    case Match::kWindow: {
      const auto hints = pointer<MPI_Info>(argument(2));
      call.agreed = {{{&kHintedSize, value(0), hinted(hints, "same_size")},
                      {&kHintedUnit, value(1), hinted(hints, "same_disp_unit")}}};
      return;
    }
    case Match::kFence:
      call.agreed = {{{&kNoPrecede, (value(0) & MPI_MODE_NOPRECEDE) != 0},
                      {&kNoSucceed, (value(0) & MPI_MODE_NOSUCCEED) != 0}}};
      return;
    case Match::kSize:
      call.agreed[0] = {&kFileSize, value(0)};
      return;
    case Match::kSeek:
      call.agreed = {{{&kOffset, value(0)}, {&kWhence, value(1)}}};
      return;
    case Match::kAtomicity:
      call.agreed[0] = {&kFlag, value(0) != 0};
      return;
    case Match::kView:
      return describe_view(call);
    default:
      return;
  }
}

/// The extent counts as it is in the file, which other representations may decide by a callback: the library sees to it.
void CheckedCall::describe_view(CollectiveCall& call) const {
  const auto* text = pointer<const char*>(function_.agreed[0]);
  const mpi::Datatype* etype = mpi::datatype_from(pointer<MPI_Datatype>(function_.agreed[1]));
  if (text == nullptr) return;  // the library refuses it
  const std::string_view name(text, ::strnlen(text, MPI_MAX_DATAREP_STRING));
  call.agreed[0] = {&kDatarep, known_name(name)};
  if (etype != nullptr && (name == "native" || name == "internal"))
    call.agreed[1] = {&kExtent, etype->extent()};
}

}  // namespace tmpi::check
