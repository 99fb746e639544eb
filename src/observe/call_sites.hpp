// CallSites: where in the program an MPI call stands. Ranks have copies of the program at addresses of their
// own; a call site is the same place in the file for all of them. Allocates; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/call_site.hpp"
#include "observe/line_numbers.hpp"

namespace tmpi::observe {

/// An address of the running process as a place in a file; `object` is null if it lies in none.
struct CodePlace {
  const char* object = nullptr;
  std::size_t offset = 0;
  const char* symbol = nullptr;  ///< the function there, null if unknown
};
using DescribeCode = CodePlace (*)(const void* address) noexcept;

class CallSites {
 public:
  explicit CallSites(DescribeCode describe) : describe_(describe) {}

  /// Number of the call site to which a call returns at `return_address`. Its addresses may be of any rank.
  std::size_t at(std::uint64_t return_address);
  const CallSite& operator[](std::size_t number) const { return sites_[number]; }
  std::size_t count() const { return sites_.size(); }
  /// False if the library that reads line numbers is not installed.
  bool have_line_numbers() const { return lines_.available(); }

 private:
  CallSite describe(const CodePlace& place, std::uint64_t return_address);
  std::size_t add(CallSite site);

  DescribeCode describe_;
  LineNumbers lines_;
  std::vector<CallSite> sites_;
  std::map<std::uint64_t, std::size_t> by_address_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> by_place_;
  std::map<std::pair<std::string, SiteIdentity>, std::size_t> by_site_;
};

}  // namespace tmpi::observe
