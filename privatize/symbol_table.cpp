#include "privatize/symbol_table.hpp"

#include <algorithm>
#include <cstring>

namespace tmpi::privatize {
namespace {

constexpr std::uint16_t kHiddenVersion = 0x8000;

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

std::uint32_t sysv_hash(const char* name) {
  std::uint32_t hash = 0;
  for (; *name != '\0'; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    const std::uint32_t high = hash & 0xf0000000U;
    hash ^= high >> 24;
    hash &= ~high;
  }
  return hash;
}

}  // namespace

const Elf64_Sym* SymbolSpan::function_below(std::uint64_t address) const noexcept {
  const Elf64_Sym* best = nullptr;
  for (const Elf64_Sym& symbol : symbols) {
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    if (symbol.st_value > address || !strings.has(symbol.st_name)) continue;
    // Of several names take the one that was written down, not the compiler's "name.localalias".
    const bool better_name =
        best != nullptr && symbol.st_value == best->st_value && ELF64_ST_BIND(best->st_info) == STB_LOCAL;
    if (best == nullptr || symbol.st_value > best->st_value || better_name) best = &symbol;
  }
  return best;
}

SymbolTable::GnuHash::GnuHash(ElfBytes section) {
  const auto head = records_in<std::uint32_t>(section, 4);
  if (head.empty() || head[0] == 0 || head[2] == 0 || head[3] >= 32) return;
  const std::uint64_t bloom_at = head.size_bytes();
  const std::uint64_t buckets_at = bloom_at + std::uint64_t{head[2]} * sizeof(std::uint64_t);
  const std::uint64_t chain_at = buckets_at + std::uint64_t{head[0]} * sizeof(std::uint32_t);
  bloom = records_in<std::uint64_t>(from(section, bloom_at), head[2]);
  if (bloom.empty()) return;
  buckets = records_in<std::uint32_t>(from(section, buckets_at), head[0]);
  chain = records_in<std::uint32_t>(from(section, chain_at));
  first = head[1];
  bloom_shift = head[3];
}

SymbolTable::SysvHash::SysvHash(ElfBytes section) {
  const auto head = records_in<std::uint32_t>(section, 2);
  if (head.empty()) return;
  const std::uint64_t chain_at = head.size_bytes() + std::uint64_t{head[0]} * sizeof(std::uint32_t);
  chain = records_in<std::uint32_t>(from(section, chain_at), head[1]);
  if (!chain.empty()) buckets = records_in<std::uint32_t>(from(section, head.size_bytes()), head[0]);
}

SymbolTable::SymbolTable(std::span<const Elf64_Dyn> dynamic, const Translate& translate) {
  ElfBytes strings, definitions, needs;
  std::uint64_t strings_size = 0, definition_count = 0, need_count = 0;
  for (const Elf64_Dyn& entry : dynamic) {
    const std::uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_SYMTAB:
        symbols_ = records_in<Elf64_Sym>(translate(value));
        break;
      case DT_STRTAB:
        strings = translate(value);
        break;
      case DT_STRSZ:
        strings_size = value;
        break;
      case DT_GNU_HASH:
        gnu_hash_ = GnuHash(translate(value));
        break;
      case DT_HASH:
        sysv_hash_ = SysvHash(translate(value));
        break;
      case DT_VERSYM:
        versions_ = records_in<std::uint16_t>(translate(value));
        break;
      case DT_VERDEF:
        definitions = translate(value);
        break;
      case DT_VERDEFNUM:
        definition_count = value;
        break;
      case DT_VERNEED:
        needs = translate(value);
        break;
      case DT_VERNEEDNUM:
        need_count = value;
        break;
      default:
        break;
    }
  }
  strings_ = ElfStrings(part_of(strings, 0, strings_size));
  if (strings_.empty()) symbols_ = {};
  if (symbols_.empty()) return;
  read_definitions(definitions, definition_count);
  read_needs(needs, need_count);
  count_ = std::min(count_symbols(), symbols_.size());
}

void SymbolTable::store_version(std::uint16_t index, std::uint32_t name) {
  index &= static_cast<std::uint16_t>(~kHiddenVersion);
  if (version_names_.size() <= index) version_names_.resize(index + 1, nullptr);
  version_names_[index] = strings_.at(name);
}

// The chains below end where a record says that none follows, so that none is read twice.
void SymbolTable::read_definitions(ElfBytes section, std::uint64_t count) {
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto* definition = record_at<Elf64_Verdef>(section, at);
    if (definition == nullptr) return;
    // The base definition names the file itself; symbols that carry it count as unversioned.
    if ((definition->vd_flags & VER_FLG_BASE) == 0) {
      if (const auto* aux = record_at<Elf64_Verdaux>(section, at + definition->vd_aux))
        store_version(definition->vd_ndx, aux->vda_name);
    }
    if (definition->vd_next == 0) return;
    at += definition->vd_next;
  }
}

void SymbolTable::read_needs(ElfBytes section, std::uint64_t count) {
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto* need = record_at<Elf64_Verneed>(section, at);
    if (need == nullptr) return;
    std::uint64_t aux_at = at + need->vn_aux;
    for (int j = 0; j < need->vn_cnt; ++j) {
      const auto* aux = record_at<Elf64_Vernaux>(section, aux_at);
      if (aux == nullptr) break;
      store_version(aux->vna_other, aux->vna_name);
      if (aux->vna_next == 0) break;
      aux_at += aux->vna_next;
    }
    if (need->vn_next == 0) return;
    at += need->vn_next;
  }
}

std::size_t SymbolTable::count_symbols() const {
  if (!sysv_hash_.buckets.empty()) return sysv_hash_.chain.size();
  const GnuHash& table = gnu_hash_;
  if (table.buckets.empty()) return 0;
  const std::uint32_t last = *std::max_element(table.buckets.begin(), table.buckets.end());
  if (last < table.first) return table.first;  // no definitions at all
  std::size_t i = last - table.first;
  while (i < table.chain.size() && (table.chain[i] & 1) == 0) ++i;
  return i + table.first + 1;
}

std::uint16_t SymbolTable::version_of(std::uint32_t index) const {
  return index < versions_.size() ? versions_[index] : std::uint16_t{VER_NDX_GLOBAL};
}

const char* SymbolTable::version_name(std::uint16_t index) const {
  index &= static_cast<std::uint16_t>(~kHiddenVersion);
  return index < version_names_.size() ? version_names_[index] : nullptr;
}

SymbolName SymbolTable::reference(std::uint32_t index) const {
  return {name(symbols_[index]), versions_.empty() ? nullptr : version_name(version_of(index))};
}

const Elf64_Sym* SymbolTable::find(const SymbolName& wanted, bool accept_plt) const {
  const Elf64_Sym* fallback = nullptr;
  const Elf64_Sym* found = nullptr;
  if (!gnu_hash_.buckets.empty()) {
    found = find_gnu(wanted, accept_plt, &fallback);
  } else if (!sysv_hash_.buckets.empty()) {
    found = find_sysv(wanted, accept_plt, &fallback);
  }
  return found != nullptr ? found : fallback;
}

bool SymbolTable::matches(std::uint32_t index, const SymbolName& wanted, bool accept_plt,
                          const Elf64_Sym** fallback) const {
  if (!has(index)) return false;
  const Elf64_Sym& symbol = symbols_[index];
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if (symbol.st_shndx == SHN_UNDEF && !(accept_plt && symbol.st_value != 0 && type == STT_FUNC)) return false;
  if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return false;
  if (type > STT_COMMON && type != STT_TLS && type != STT_GNU_IFUNC) return false;
  if (type == STT_SECTION || type == STT_FILE) return false;
  if (symbol.st_value == 0 && symbol.st_shndx != SHN_ABS && type != STT_TLS) return false;
  if (std::strcmp(name(symbol), wanted.name) != 0) return false;
  if (versions_.empty()) return true;
  const std::uint16_t version = version_of(index);
  const char* defined = version_name(version);
  if (wanted.version != nullptr) {
    // An unversioned definition satisfies any request: that is how interposition works.
    return defined != nullptr ? std::strcmp(defined, wanted.version) == 0 : (version & kHiddenVersion) == 0;
  }
  // No version asked: the base version at once, else the default one.
  if ((version & ~kHiddenVersion) < 2) return true;
  if ((version & kHiddenVersion) == 0) *fallback = &symbol;
  return false;
}

const Elf64_Sym* SymbolTable::find_gnu(const SymbolName& wanted, bool accept_plt,
                                       const Elf64_Sym** fallback) const {
  const GnuHash& table = gnu_hash_;
  const std::uint32_t hash = gnu_hash(wanted.name);
  const std::uint64_t word = table.bloom[(hash / 64) % table.bloom.size()];
  const std::uint64_t mask = (1ULL << (hash % 64)) | (1ULL << ((hash >> table.bloom_shift) % 64));
  if ((word & mask) != mask) return nullptr;
  const std::uint32_t begin = table.buckets[hash % table.buckets.size()];
  if (begin < table.first) return nullptr;
  for (std::size_t i = begin - table.first; i < table.chain.size(); ++i) {
    const std::uint32_t entry = table.chain[i];
    const auto index = static_cast<std::uint32_t>(i + table.first);
    if ((entry | 1) == (hash | 1) && matches(index, wanted, accept_plt, fallback)) return &symbols_[index];
    if ((entry & 1) != 0) return nullptr;
  }
  return nullptr;
}

const Elf64_Sym* SymbolTable::find_sysv(const SymbolName& wanted, bool accept_plt,
                                        const Elf64_Sym** fallback) const {
  const SysvHash& table = sysv_hash_;
  std::uint32_t index = table.buckets[sysv_hash(wanted.name) % table.buckets.size()];
  // Not more steps than there are symbols: a damaged chain may be a circle.
  for (std::size_t step = 0; index != 0 && index < table.chain.size() && step < table.chain.size(); ++step) {
    if (matches(index, wanted, accept_plt, fallback)) return &symbols_[index];
    index = table.chain[index];
  }
  return nullptr;
}

}  // namespace tmpi::privatize
