#include "launch/system/process_name.hpp"

#include <linux/prctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

namespace tmpi::launch {
namespace {

/// Numbers of /proc/self/stat, counted from 1 as in proc(5), from the third on.
class Stat {
 public:
  Stat() {
    std::ifstream file("/proc/self/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream fields(text.substr(std::min(text.rfind(')') + 2, text.size())));
    for (std::string field; fields >> field;) fields_.push_back(std::strtoull(field.c_str(), nullptr, 10));
  }
  bool complete() const { return fields_.size() >= 49; }
  std::uint64_t operator[](std::size_t number) const { return fields_[number - 3]; }

 private:
  std::vector<std::uint64_t> fields_;
};

/// Unlike PR_SET_MM with one value at a time, this needs no privilege (Linux 4.18, CONFIG_CHECKPOINT_RESTORE).
bool replace_arguments(const Stat& stat, const std::string& bytes) {
  auto* memory = new char[bytes.size()];  // the kernel's from now on
  std::memcpy(memory, bytes.data(), bytes.size());
  prctl_mm_map map{};
  map.start_code = stat[26];
  map.end_code = stat[27];
  map.start_stack = stat[28];
  map.start_data = stat[45];
  map.end_data = stat[46];
  map.start_brk = stat[47];
  map.brk = reinterpret_cast<std::uint64_t>(sbrk(0));
  map.arg_start = reinterpret_cast<std::uint64_t>(memory);
  map.arg_end = map.arg_start + bytes.size();
  map.env_start = stat[50];
  map.env_end = stat[51];
  map.exe_fd = UINT32_MAX;
  if (prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0) return true;
  delete[] memory;
  return false;
}

void overwrite_arguments(const Stat& stat, const std::string& bytes) {
  auto* start = reinterpret_cast<char*>(stat[48]);
  const std::size_t room = stat[49] - stat[48];
  if (start == nullptr || room == 0 || room > (std::size_t{1} << 22)) return;
  std::memset(start, 0, room);
  std::memcpy(start, bytes.data(), std::min(bytes.size(), room - 1));
}

}  // namespace

std::string base_name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

void show_as(const std::vector<std::string>& words) {
  if (words.empty()) return;
  prctl(PR_SET_NAME, base_name_of(words.front()).c_str(), 0, 0, 0);
  std::string bytes;
  for (const std::string& word : words) bytes.append(word).push_back('\0');
  const Stat stat;
  if (!stat.complete()) return;
  // The kernel takes the end of the heap from us, too: nobody may move it meanwhile, as a thread of a library in
  // LD_PRELOAD might.
  const bool alone = stat[20] == 1;
  if (!alone || !replace_arguments(stat, bytes)) overwrite_arguments(stat, bytes);
}

}  // namespace tmpi::launch
