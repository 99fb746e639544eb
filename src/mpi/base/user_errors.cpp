#include "mpi/base/user_errors.hpp"

#include <algorithm>
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

bool UserErrors::has_text(int code) const {
  auto found = codes_.find(code);
  return found != codes_.end() && found->second.text.has_value();
}

bool UserErrors::remove_text(int code) {
  if (!has_text(code)) return false;
  codes_.at(code).text.reset();
  return true;
}

bool UserErrors::has_codes(int error_class) const {
  return std::any_of(codes_.begin(), codes_.end(), [&](const auto& item) {
    return item.first != error_class && item.second.error_class == error_class;
  });
}

bool UserErrors::remove(int code, bool is_class) {
  auto found = codes_.find(code);
  if (found == codes_.end() || (found->second.error_class == code) != is_class) return false;
  if (has_text(code) || (is_class && has_codes(code))) return false;
  codes_.erase(found);
  return true;
}

int UserErrors::class_of(int code) const {
  auto found = codes_.find(code);
  return found == codes_.end() ? MPI_ERR_UNKNOWN : found->second.error_class;
}

std::string_view UserErrors::text(int code) const {
  return has_text(code) ? std::string_view(*codes_.at(code).text) : std::string_view();
}

}  // namespace tmpi::mpi
