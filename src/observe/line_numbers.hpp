// LineNumbers: file and line of a code address, from an object's DWARF information. Uses elfutils' libdw,
// which is loaded only when it is first asked: a job that is not observed never pays for it. Allocates, reads
// files; one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tmpi::observe {

struct Line {
  std::string file;  ///< as the compiler recorded it
  int number = 0;
  std::string
      function;  ///< innermost function there, also if it was inlined; without arguments; empty if unknown
};

class LineNumbers {
 public:
  LineNumbers();
  ~LineNumbers();
  LineNumbers(const LineNumbers&) = delete;

  /// False if libdw is not installed: find() then finds nothing.
  bool available() const noexcept { return library_ != nullptr; }
  /// `address` in the file `object` (an address of the file, not of memory). Nothing if the object was
  /// compiled without -g or cannot be read.
  std::optional<Line> find(const std::string& object, std::uint64_t address);

 private:
  struct Library;
  struct Debug;
  std::unique_ptr<Library> library_;
  std::map<std::string, std::unique_ptr<Debug>> objects_;
};

}  // namespace tmpi::observe
