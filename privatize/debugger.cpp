#include "privatize/debugger.hpp"

#include <dlfcn.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <string>

#include "base/spinlock.hpp"

// Ours, chained behind the dynamic linker's; exported under this name for gdb/images.py.
struct DebuggerList {
  r_debug_extended list;
  link_map*
      first;  // its entries, also while a debugger hides them (r_map is null), or has died without showing them again
};
extern "C" __attribute__((visibility("default"))) DebuggerList tmpi_debugger_list;
DebuggerList tmpi_debugger_list;

namespace tmpi::privatize {
namespace {

r_debug_extended& images = tmpi_debugger_list.list;
link_map*& first = tmpi_debugger_list.first;

constinit SpinLock lock;
DebuggerEntry* last = nullptr;

/// Through DT_DEBUG: the symbol _r_debug may be a copy in the executable.
r_debug_extended* dynamic_linkers() {
  for (const Elf64_Dyn* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_DEBUG) return reinterpret_cast<r_debug_extended*>(entry->d_un.d_ptr);
  }
  return nullptr;
}

void chain() {
  r_debug_extended* real = dynamic_linkers();
  if (real == nullptr || images.base.r_version != 0) return;
  images.base.r_version = 2;
  images.base.r_brk = real->base.r_brk;
  images.base.r_state = r_debug::RT_CONSISTENT;
  images.base.r_ldbase = real->base.r_ldbase;
  r_debug_extended* end = real;
  while (end->base.r_version >= 2 && end->r_next != nullptr) end = end->r_next;
  end->r_next = &images;
  real->base.r_version = 2;
}

}  // namespace

void announce_image(const ImageSet& set, int index) {
  const auto& objects = set.objects();
  auto* entries =
      new DebuggerEntry[objects.size()]();  // for the life of the process: debuggers keep pointers
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const Object& object = *objects[i];
    link_map& map = entries[i].map;
    map.l_addr = set.base(index) + object.offset;
    map.l_name = const_cast<char*>(object.file->path().c_str());
    map.l_ld = reinterpret_cast<Elf64_Dyn*>(map.l_addr + object.file->segment(PT_DYNAMIC)->p_vaddr);
    map.l_next = i + 1 < objects.size() ? &entries[i + 1].map : nullptr;
    map.l_prev = i > 0 ? &entries[i - 1].map : nullptr;
    entries[i].rank = set.rank(index);
    entries[i].end = set.base(index) + set.extent();
  }
  const std::lock_guard guard(lock);
  DebuggerEntry* tail = &entries[objects.size() - 1];
  if (last == nullptr) {
    chain();
    images.base.r_map = first = &entries[0].map;
  } else {
    entries[0].map.l_prev = &last->map;
    last->map.l_next = &entries[0].map;
  }
  last = tail;
}

void forget_images(std::uint64_t begin, std::uint64_t end) noexcept {
  const std::lock_guard guard(lock);
  for (link_map* map = first; map != nullptr; map = map->l_next) {
    if (map->l_addr < begin || map->l_addr >= end) continue;
    if (images.base.r_map == map) images.base.r_map = map->l_next;
    (map->l_prev != nullptr ? map->l_prev->l_next : first) = map->l_next;
    if (map->l_next != nullptr) {
      map->l_next->l_prev = map->l_prev;
    } else {
      last = reinterpret_cast<DebuggerEntry*>(map->l_prev);
    }
  }
}

bool being_traced() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("TracerPid:", 0) == 0) return std::stoi(line.substr(10)) != 0;
  }
  return false;
}

void publish_to_debugger() {
  if (!being_traced()) return;
  // gdb re-reads the lists when the dynamic linker loads something, so load a small library that nobody uses.
  if (void* dummy = dlopen("libBrokenLocale.so.1", RTLD_NOW | RTLD_LOCAL)) dlclose(dummy);
}

}  // namespace tmpi::privatize
