// Info: an MPI_Info object, strings with string keys in the order in which they were set (MPI report,
// chapter 10). Belongs to the rank that created it. Functions that take hints read the object during the call
// and keep copies of what they need: nobody but its handle refers to an Info, and MPI_Info_free deletes it.
// Nothing here suspends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi.h"
#include "mpi/base/handle_memory.hpp"

namespace tmpi::mpi {

class Info {
 public:
  TMPI_IN_HANDLE_MEMORY(HandleKind::kInfo, Info)
  using Entry = std::pair<std::string, std::string>;  ///< key, value

  Info() = default;
  explicit Info(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  ~Info() { magic_ = 0; }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;

  /// Null if the key is not set; valid until the object changes.
  const std::string* find(std::string_view key) const noexcept;
  /// The value is "true".
  bool is_true(std::string_view key) const noexcept;
  /// Replaces the value if the key is set.
  void set(std::string_view key, std::string_view value);
  /// False if the key is not set.
  bool erase(std::string_view key);
  /// In the order of MPI_Info_get_nthkey.
  const std::vector<Entry>& entries() const noexcept { return entries_; }

  bool alive() const noexcept { return magic_ == kMagic; }

 private:
  static constexpr std::uint32_t kMagic = 0x494e464f;  // "INFO"
  std::uint32_t magic_ = kMagic;
  std::vector<Entry> entries_;
};

}  // namespace tmpi::mpi
