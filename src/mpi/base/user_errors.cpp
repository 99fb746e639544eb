#include "mpi/base/user_errors.hpp"

#include <utility>

namespace tmpi::mpi {

int UserErrors::add(int error_class) {
  const int code = ++last_used_;
  codes_.emplace(code, Entry{error_class == 0 ? code : error_class, {}});
  return code;
}

bool UserErrors::set_text(int code, std::string text) {
  auto found = codes_.find(code);
  if (found == codes_.end()) return false;
  found->second.text = std::move(text);
  return true;
}

bool UserErrors::remove(int code, bool is_class) {
  auto found = codes_.find(code);
  if (found == codes_.end() || (found->second.error_class == code) != is_class) return false;
  for (const auto& [other, entry] : codes_) {
    if (is_class && other != code && entry.error_class == code) return false;
  }
  codes_.erase(found);
  return true;
}

int UserErrors::class_of(int code) const {
  auto found = codes_.find(code);
  return found == codes_.end() ? MPI_ERR_UNKNOWN : found->second.error_class;
}

const std::string* UserErrors::text(int code) const {
  auto found = codes_.find(code);
  return found == codes_.end() ? nullptr : &found->second.text;
}

}  // namespace tmpi::mpi
