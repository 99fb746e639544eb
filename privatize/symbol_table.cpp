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

/// The parts of a .gnu.hash section.
struct GnuHash {
  explicit GnuHash(const std::uint32_t* table)
      : buckets(table[0]),
        first(table[1]),
        bloom_words(table[2]),
        bloom_shift(table[3]),
        bloom(reinterpret_cast<const std::uint64_t*>(table + 4)),
        bucket(reinterpret_cast<const std::uint32_t*>(bloom + bloom_words)),
        chain(bucket + buckets) {}
  std::uint32_t buckets, first, bloom_words, bloom_shift;
  const std::uint64_t* bloom;
  const std::uint32_t* bucket;
  const std::uint32_t* chain;
};

template <class T>
const T* advance(const T* entry, std::uint32_t bytes) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(entry) + bytes);
}

}  // namespace

const Elf64_Sym* SymbolSpan::function_below(std::uint64_t address) const noexcept {
  const Elf64_Sym* best = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const Elf64_Sym& symbol = symbols[i];
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    if (symbol.st_value > address || symbol.st_name >= strings_size) continue;
    // Of several names take the one that was written down, not the compiler's "name.localalias".
    const bool better_name =
        best != nullptr && symbol.st_value == best->st_value && ELF64_ST_BIND(best->st_info) == STB_LOCAL;
    if (best == nullptr || symbol.st_value > best->st_value || better_name) best = &symbol;
  }
  return best;
}

SymbolTable::SymbolTable(const Elf64_Dyn* dynamic, const Translate& translate) {
  const void* definitions = nullptr;
  const void* needs = nullptr;
  std::uint64_t definition_count = 0, need_count = 0;
  for (const Elf64_Dyn* entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
    const std::uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        symbols_ = static_cast<const Elf64_Sym*>(translate(value));
        break;
      case DT_STRTAB:
        strings_ = static_cast<const char*>(translate(value));
        break;
      case DT_STRSZ:
        strings_size_ = value;
        break;
      case DT_GNU_HASH:
        gnu_hash_ = static_cast<const std::uint32_t*>(translate(value));
        break;
      case DT_HASH:
        sysv_hash_ = static_cast<const std::uint32_t*>(translate(value));
        break;
      case DT_VERSYM:
        versions_ = static_cast<const std::uint16_t*>(translate(value));
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
  if (symbols_ == nullptr || strings_ == nullptr) return;
  read_versions(definitions, definition_count, needs, need_count);
  count_symbols();
}

void SymbolTable::read_versions(const void* definitions, std::uint64_t definition_count, const void* needs,
                                std::uint64_t need_count) {
  auto store = [this](std::uint16_t index, const char* name) {
    index &= ~kHiddenVersion;
    if (version_names_.size() <= index) version_names_.resize(index + 1, nullptr);
    version_names_[index] = name;
  };
  auto* definition = static_cast<const Elf64_Verdef*>(definitions);
  for (std::uint64_t i = 0; definition != nullptr && i < definition_count; ++i) {
    // The base definition names the file itself; symbols that carry it count as unversioned.
    if ((definition->vd_flags & VER_FLG_BASE) == 0) {
      const auto* aux = advance(reinterpret_cast<const Elf64_Verdaux*>(definition), definition->vd_aux);
      store(definition->vd_ndx, strings_ + aux->vda_name);
    }
    definition = advance(definition, definition->vd_next);
  }
  auto* need = static_cast<const Elf64_Verneed*>(needs);
  for (std::uint64_t i = 0; need != nullptr && i < need_count; ++i) {
    const auto* aux = advance(reinterpret_cast<const Elf64_Vernaux*>(need), need->vn_aux);
    for (int j = 0; j < need->vn_cnt; ++j) {
      store(aux->vna_other, strings_ + aux->vna_name);
      aux = advance(aux, aux->vna_next);
    }
    need = advance(need, need->vn_next);
  }
}

void SymbolTable::count_symbols() {
  if (sysv_hash_ != nullptr) {
    count_ = sysv_hash_[1];
    return;
  }
  if (gnu_hash_ == nullptr) return;
  const GnuHash table(gnu_hash_);
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < table.buckets; ++i) last = std::max(last, table.bucket[i]);
  if (last < table.first) {
    count_ = table.first;  // no definitions at all
    return;
  }
  while ((table.chain[last - table.first] & 1) == 0) ++last;
  count_ = last + 1;
}

const char* SymbolTable::version_name(std::uint16_t index) const {
  index &= ~kHiddenVersion;
  return index < version_names_.size() ? version_names_[index] : nullptr;
}

SymbolName SymbolTable::reference(std::uint32_t index) const {
  return {strings_ + symbols_[index].st_name,
          versions_ != nullptr ? version_name(versions_[index]) : nullptr};
}

const Elf64_Sym* SymbolTable::find(const SymbolName& wanted, bool accept_plt) const {
  if (symbols_ == nullptr) return nullptr;
  const Elf64_Sym* fallback = nullptr;
  const Elf64_Sym* found = nullptr;
  if (gnu_hash_ != nullptr) {
    found = find_gnu(wanted, accept_plt, &fallback);
  } else if (sysv_hash_ != nullptr) {
    found = find_sysv(wanted, accept_plt, &fallback);
  }
  return found != nullptr ? found : fallback;
}

bool SymbolTable::matches(std::uint32_t index, const SymbolName& wanted, bool accept_plt,
                          const Elf64_Sym** fallback) const {
  const Elf64_Sym& symbol = symbols_[index];
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if (symbol.st_shndx == SHN_UNDEF && !(accept_plt && symbol.st_value != 0 && type == STT_FUNC)) return false;
  if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return false;
  if (type > STT_COMMON && type != STT_TLS && type != STT_GNU_IFUNC) return false;
  if (type == STT_SECTION || type == STT_FILE) return false;
  if (symbol.st_value == 0 && symbol.st_shndx != SHN_ABS && type != STT_TLS) return false;
  if (std::strcmp(strings_ + symbol.st_name, wanted.name) != 0) return false;
  if (versions_ == nullptr) return true;
  const std::uint16_t version = versions_[index];
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
  const GnuHash table(gnu_hash_);
  const std::uint32_t hash = gnu_hash(wanted.name);
  if (table.buckets == 0) return nullptr;
  const std::uint64_t word = table.bloom[(hash / 64) % table.bloom_words];
  const std::uint64_t mask = (1ULL << (hash % 64)) | (1ULL << ((hash >> table.bloom_shift) % 64));
  if ((word & mask) != mask) return nullptr;
  std::uint32_t index = table.bucket[hash % table.buckets];
  if (index < table.first) return nullptr;
  for (;; ++index) {
    const std::uint32_t entry = table.chain[index - table.first];
    if ((entry | 1) == (hash | 1) && matches(index, wanted, accept_plt, fallback)) return &symbols_[index];
    if ((entry & 1) != 0) return nullptr;
  }
}

const Elf64_Sym* SymbolTable::find_sysv(const SymbolName& wanted, bool accept_plt,
                                        const Elf64_Sym** fallback) const {
  const std::uint32_t buckets = sysv_hash_[0];
  if (buckets == 0) return nullptr;
  const std::uint32_t* bucket = sysv_hash_ + 2;
  const std::uint32_t* chain = bucket + buckets;
  for (std::uint32_t index = bucket[sysv_hash(wanted.name) % buckets]; index != 0; index = chain[index]) {
    if (matches(index, wanted, accept_plt, fallback)) return &symbols_[index];
  }
  return nullptr;
}

}  // namespace tmpi::privatize
