// dlsym, dladdr and relatives for code in images: the rank's own objects first, then the system's. The rank
// is found from the caller's address, so no look-up of "who is running" is needed and helper threads work
// alike. dlopen is in dl_open.cpp.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "base/path.hpp"
#include "privatize/arena_registry.hpp"
#include "privatize/dl_scope.hpp"
#include "privatize/link_maps.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/scope.hpp"
#include "privatize/shared_libraries.hpp"
#include "privatize/thread_context.hpp"

namespace tmpi::privatize {
namespace {

void* address_in_image(const RankState& state, const Target& target) {
  const Object& object = *target.object;
  const std::uint64_t base = object.set->base(state.index);
  switch (target.kind) {
    case Target::Kind::kImageTls: {
      if (object.tls.is_static) {
        // The calling thread's share of the static pool; its address is computed by the loader's own
        // accessor.
        return static_tls_address(*object.set, state.index, object, target.value);
      }
      TlsIndex index{base + object.tls.offset, target.value};
      return tmpi_tls_get_addr(&index);
    }
    case Target::Kind::kImageIfunc:
      if (!object.file->in_memory(target.value, 1, PF_X)) return nullptr;
      return reinterpret_cast<void* (*)()>(base + object.at(target.value))();
    default:
      return reinterpret_cast<void*>(base + object.at(target.value));
  }
}

void* address_of_target(const RankState& state, const Target& target) {
  switch (target.kind) {
    case Target::Kind::kAbsolute:
      return reinterpret_cast<void*>(target.value);
    case Target::Kind::kSystemTls: {
      std::size_t module = 0;
      ::dlinfo(target.module->map, RTLD_DI_TLS_MODID, &module);
      TlsIndex index{module, target.value};
      return tmpi_tls_get_addr(&index);
    }
    case Target::Kind::kImage:
    case Target::Kind::kImageIfunc:
    case Target::Kind::kImageTls:
      return address_in_image(state, target);
    case Target::Kind::kUndefined:
    case Target::Kind::kNull:
      break;
  }
  return nullptr;
}

void* find_in(const RankState& state, const std::vector<const Object*>& objects, const SymbolName& wanted) {
  for (const Object* object : objects) {
    if (const Elf64_Sym* symbol = object->file->symbols().find(wanted))
      return address_of_target(state, in_image(*object, *symbol));
  }
  return nullptr;
}

void* in_system(void* handle, const SymbolName& wanted) {
  return wanted.version != nullptr ? ::dlvsym(handle, wanted.name, wanted.version)
                                   : ::dlsym(handle, wanted.name);
}

/// Of what was opened since the program was loaded, too.
void* find_in_process(const RankState& state, const SymbolName& wanted) {
  if (void* const found = address_of_target(state, state.set->scope().find_outside(wanted))) return found;
  const SystemSymbol late = SystemScope::snapshot()->find(wanted);
  if (!late || ELF64_ST_TYPE(late.symbol->st_info) == STT_TLS) return nullptr;
  return reinterpret_cast<void*>(late.address());
}

void* find_by_default(const RankState& state, const SymbolName& wanted) {
  if (void* const found = address_of_target(state, state.set->scope().find(wanted))) return found;
  if (void* const found = find_in(state, opened_globally(state), wanted)) return found;
  return find_in_process(state, wanted);
}

void* find_next(const RankState& state, const SymbolName& wanted, const void* caller) {
  const ImageLocation where = locate(caller);
  const Object* after = where ? where.set->object_at(where.offset) : nullptr;
  if (after == nullptr) return find_by_default(state, wanted);
  if (void* const found = address_of_target(state, where.set->scope().find_behind(*after, wanted)))
    return found;
  return find_in_process(state, wanted);
}

/// What a program finds in a handle of libc must still be its rank's version of it.
void* prefer_own(const RankState& state, void* found, const SymbolName& wanted) {
  Dl_info info;
  if (found == nullptr || ::dladdr(found, &info) == 0) return found;
  if (!is_libcs(file_of(info.dli_fname))) return found;
  void* const own = address_of_target(state, state.set->scope().find_outside(wanted));
  return own != nullptr ? own : found;
}

void* look_up(void* handle, const SymbolName& wanted, const void* caller) {
  RankState* state = calling_rank(caller);
  if (state == nullptr) return in_system(handle, wanted);
  void* found = nullptr;
  if (handle == RTLD_NEXT) {
    found = find_next(*state, wanted, caller);
  } else if (handle == RTLD_DEFAULT || is_program(*state, handle)) {
    found = find_by_default(*state, wanted);
  } else if (const OpenedLibrary* library = as_opened(*state, handle)) {
    found = find_in(*state, library_scope(*library), wanted);
    if (found == nullptr) found = find_in_process(*state, wanted);
  } else {
    void* const system = in_system(handle, wanted);
    if (system == nullptr) keep_dl_error(*state);
    return prefer_own(*state, system, wanted);
  }
  if (found == nullptr) set_dl_error(*state, std::string("undefined symbol: ") + wanted.name);
  return found;
}

const Elf64_Sym* symbol_around(const Object& object, std::uint64_t address) {
  const SymbolTable& symbols = object.file->symbols();
  const Elf64_Sym* best = nullptr;
  for (std::uint32_t i = 1; i < symbols.count(); ++i) {
    const Elf64_Sym& symbol = symbols.symbol(i);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value > address || ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
      continue;
    if (symbol.st_size != 0 && address >= symbol.st_value + symbol.st_size) continue;
    if (best == nullptr || symbol.st_value > best->st_value) best = &symbol;
  }
  return best;
}

/// Fills `info` if the address is in an image; `symbol` receives the dynamic symbol or null.
const Object* describe(const void* address, Dl_info* info, const Elf64_Sym** symbol,
                       ImageLocation* location) {
  const ImageLocation where = locate(address);
  const Object* object = where ? where.set->object_at(where.offset) : nullptr;
  if (object == nullptr) return nullptr;
  const std::uint64_t base = where.set->base(where.index);
  info->dli_fname = object->file->path().c_str();
  info->dli_fbase = reinterpret_cast<void*>(base + object->text_begin);
  *symbol = symbol_around(*object, where.offset - object->offset);
  info->dli_sname = *symbol == nullptr ? nullptr : object->file->symbols().name(**symbol);
  info->dli_saddr =
      *symbol == nullptr ? nullptr : reinterpret_cast<void*>(base + object->at((*symbol)->st_value));
  *location = where;
  return object;
}

}  // namespace

extern "C" int tmpi_dladdr(const void* address, Dl_info* info) {
  return tmpi_dladdr1(address, info, nullptr, 0);
}

extern "C" int tmpi_dladdr1(const void* address, Dl_info* info, void** extra, int flags) {
  const Elf64_Sym* symbol = nullptr;
  ImageLocation where;
  const Object* object = describe(address, info, &symbol, &where);
  if (object == nullptr) return flags == 0 ? ::dladdr(address, info) : ::dladdr1(address, info, extra, flags);
  if (flags == RTLD_DL_SYMENT) *extra = const_cast<Elf64_Sym*>(symbol);
  if (flags == RTLD_DL_LINKMAP) {
    RankState* const owner = rank_state(where.set->rank(where.index));
    *extra = owner != nullptr ? link_map_of(*owner, *object) : nullptr;
  }
  return 1;
}

namespace {

// For C: without memory nothing is found.
void* look_up_or_fail(void* handle, const SymbolName& wanted, const void* caller) noexcept {
  try {
    return look_up(handle, wanted, caller);
  } catch (const std::bad_alloc&) {
    if (RankState* state = calling_rank(caller)) set_dl_error_no_memory(*state);
    return nullptr;
  }
}

}  // namespace

extern "C" void* tmpi_dlsym(void* handle, const char* name) {
  return look_up_or_fail(handle, {name, nullptr}, __builtin_return_address(0));
}

extern "C" void* tmpi_dlvsym(void* handle, const char* name, const char* version) {
  return look_up_or_fail(handle, {name, version}, __builtin_return_address(0));
}

extern "C" char* tmpi_dlerror() {
  RankState* state = calling_rank(__builtin_return_address(0));
  if (state == nullptr) return ::dlerror();
  if (state->dl_error.empty()) return nullptr;
  // The text stays until the rank's next call, as dlerror(3) promises.
  state->dl_error_told = std::move(state->dl_error);
  state->dl_error.clear();
  return state->dl_error_told.data();
}

extern "C" int tmpi_dlinfo(void* handle, int request, void* result) {
  RankState* state = calling_rank(__builtin_return_address(0));
  const OpenedLibrary* library = state == nullptr ? nullptr : as_opened(*state, handle);
  if (state == nullptr || (library == nullptr && !is_program(*state, handle))) {
    const int failed = ::dlinfo(handle, request, result);
    if (state != nullptr && failed != 0) keep_dl_error(*state);
    return failed;
  }
  const Object& object = library != nullptr ? *library->root : *state->set->objects().front();
  if (request == RTLD_DI_LINKMAP) {
    *static_cast<link_map**>(result) = link_map_of(*state, object);
    return 0;
  }
  if (request == RTLD_DI_ORIGIN) {
    const std::string& path = object.file->path();
    const std::size_t length = std::min(path.rfind('/'), path.size());
    std::memcpy(result, path.data(), length);
    static_cast<char*>(result)[length] = '\0';
    return 0;
  }
  set_dl_error(*state, "dlinfo: this request is not possible for a library of a rank");
  return -1;
}

}  // namespace tmpi::privatize
