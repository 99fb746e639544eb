// Error classes, codes and strings that a program adds (MPI report, 9.5). Per rank.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "mpi.h"

namespace tmpi::mpi {

class UserErrors {
 public:
  int add_class() { return add(0); }
  int add_code(int error_class) { return add(error_class); }
  bool any() const { return !codes_.empty(); }
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

 private:
  struct Entry {
    int error_class;
    std::optional<std::string> text;
  };
  int add(int error_class);
  int last_used_ = MPI_ERR_LASTCODE;
  std::map<int, Entry> codes_;
};

}  // namespace tmpi::mpi
