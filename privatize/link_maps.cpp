#include "privatize/link_maps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include "privatize/outside_symbols.hpp"
#include "privatize/scope.hpp"

namespace tmpi::privatize {

/// Entries stay where they are: programs keep their addresses.
struct LinkMaps {
  struct Entry {
    link_map map;
    const Object* object;
  };
  std::deque<Entry> entries;
};

void delete_link_maps(LinkMaps* maps) noexcept {
  delete maps;
}

namespace {

bool is_address(std::int64_t tag) {
  switch (tag) {
    case DT_HASH:
    case DT_GNU_HASH:
    case DT_STRTAB:
    case DT_SYMTAB:
    case DT_RELA:
    case DT_JMPREL:
    case DT_PLTGOT:
    case DT_VERSYM:
      return true;
    default:
      return false;
  }
}

/// The rank's own, where a program finds it; null: it has none.
r_debug* r_debug_of(const RankState& state) {
  const Target target = state.set->scope().find({"_r_debug", nullptr});
  if (target.kind != Target::Kind::kImage || target.object->set != state.set) return nullptr;
  return reinterpret_cast<r_debug*>(state.set->base(state.index) + target.object->at(target.value));
}

/// Empty: it is not where a rank could write, and stays as it is.
std::span<Elf64_Dyn> dynamic_of(const RankState& state, const Object& object) {
  const Elf64_Phdr* const segment = object.file->segment(PT_DYNAMIC);
  if (segment == nullptr || object.set->template_of(object, segment->p_vaddr, segment->p_memsz) == nullptr)
    return {};
  auto* const first =
      reinterpret_cast<Elf64_Dyn*>(object.set->base(state.index) + object.at(segment->p_vaddr));
  return {first, segment->p_memsz / sizeof(Elf64_Dyn)};
}

/// As the dynamic linker leaves it: with addresses of the process.
void relocate_dynamic(const RankState& state, const Object& object) {
  const std::uint64_t base = object.set->base(state.index) + object.offset;
  for (Elf64_Dyn& entry : dynamic_of(state, object)) {
    if (entry.d_tag == DT_NULL) break;
    if (is_address(entry.d_tag)) entry.d_un.d_ptr += base;
    if (entry.d_tag == DT_DEBUG) entry.d_un.d_ptr = reinterpret_cast<std::uint64_t>(r_debug_of(state));
  }
}

void add(const RankState& state, LinkMaps& maps, const Object& object, link_map* rest) {
  link_map* const before = maps.entries.empty() ? nullptr : &maps.entries.back().map;
  LinkMaps::Entry& entry = maps.entries.emplace_back();
  const bool is_program = before == nullptr;
  entry.object = &object;
  entry.map.l_addr = object.set->base(state.index) + object.offset;
  entry.map.l_name = is_program ? const_cast<char*>("") : const_cast<char*>(object.file->path().c_str());
  entry.map.l_ld = reinterpret_cast<Elf64_Dyn*>(entry.map.l_addr + object.file->segment(PT_DYNAMIC)->p_vaddr);
  relocate_dynamic(state, object);
  entry.map.l_prev = before;
  entry.map.l_next = rest;
  if (before != nullptr) before->l_next = &entry.map;  // last: others may be going through
}

/// Under the rank's lock.
void extend(const RankState& state, LinkMaps& maps) {
  link_map* const rest = outside_symbols(state.set->scope());
  if (maps.entries.empty()) {
    for (const auto& object : state.set->objects()) add(state, maps, *object, rest);
  }
  for (const OpenedLibrary* library : state.opened) {
    const auto known = [&](const LinkMaps::Entry& entry) { return entry.object == library->root; };
    if (std::ranges::any_of(maps.entries, known)) continue;
    for (const auto& object : library->set->objects()) add(state, maps, *object, rest);
  }
}

void show(const RankState& state, LinkMaps& maps) {
  r_debug* const shown = r_debug_of(state);
  if (shown == nullptr) return;
  shown->r_version = 1;
  shown->r_map = &maps.entries.front().map;
  shown->r_brk = _r_debug.r_brk;
  shown->r_ldbase = _r_debug.r_ldbase;
  shown->r_state = r_debug::RT_CONSISTENT;
}

}  // namespace

link_map* link_map_of(RankState& state, const Object& object) {
  const std::lock_guard lock(state.lock);
  if (state.link_maps == nullptr) {
    auto maps = std::make_unique<LinkMaps>();
    extend(state, *maps);
    show(state, *maps);
    state.link_maps = maps.release();
  }
  auto& entries = state.link_maps->entries;
  const auto is_it = [&](const LinkMaps::Entry& entry) { return entry.object == &object; };
  auto found = std::ranges::find_if(entries, is_it);
  if (found == entries.end()) {
    extend(state, *state.link_maps);
    found = std::ranges::find_if(entries, is_it);
  }
  return found != entries.end() ? &found->map : nullptr;
}

bool looks_at_link_maps(const ImageSet& set) {
  return std::ranges::any_of(set.objects(), [](const auto& object) {
    const ElfFile& file = *object->file;
    if (file.dynamic().debug) return true;
    for (std::uint32_t i = 1; i < file.symbols().count(); ++i) {
      const Elf64_Sym& symbol = file.symbols().symbol(i);
      if (std::string_view("_r_debug") == file.symbols().name(symbol)) return symbol.st_shndx == SHN_UNDEF;
    }
    return false;
  });
}

}  // namespace tmpi::privatize
