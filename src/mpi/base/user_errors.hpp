// Error classes, codes and strings that a program adds (MPI report, 9.5). Per rank.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mpi.h"

namespace tmpi::mpi {

class UserErrors {
 public:
  int add_class() { return add(0); }
  int add_code(int error_class) { return add(error_class); }
  bool knows(int code) const { return codes_.contains(code); }
  bool set_text(int code, std::string text);
  bool has_text(int code) const;
  bool remove_text(int code);
  bool has_codes(int error_class) const;
  /// Only without a text and, for a class, without codes: what belongs to one must have been removed before it.
  bool remove(int code, bool is_class);
  /// Class of an added code (a class is its own); MPI_ERR_UNKNOWN if never added.
  int class_of(int code) const;
  /// Empty if it has none.
  std::string_view text(int code) const;
  /// Where MPI_LASTUSEDCODE's value lies: it grows with every class and code that is added.
  const int* last_used() const noexcept { return &last_used_; }

  struct Entry {
    int error_class;
    std::optional<std::string> text;
  };
  // For ranks that are saved (mpi/save).
  const std::map<int, Entry>& codes() const noexcept { return codes_; }
  void revive(int code, Entry entry) { codes_.emplace(code, std::move(entry)); }
  void go_on_behind(int last_used) noexcept { last_used_ = last_used; }

 private:
  int add(int error_class);
  int last_used_ = MPI_ERR_LASTCODE;
  std::map<int, Entry> codes_;
};

}  // namespace tmpi::mpi
