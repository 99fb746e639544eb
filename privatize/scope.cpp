#include "privatize/scope.hpp"

#include <algorithm>
#include <string_view>

#include "privatize/runtime_table.hpp"

namespace tmpi::privatize {
namespace {

Target in_module(const SystemModule& module, const Elf64_Sym& symbol) {
  if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
    return {Target::Kind::kSystemTls, symbol.st_value, symbol.st_size, nullptr, &module};
  return {Target::Kind::kAbsolute, SystemSymbol{&module, &symbol}.address(), symbol.st_size, nullptr,
          &module};
}

Target in_process(const void* function) {
  return {Target::Kind::kAbsolute, reinterpret_cast<std::uint64_t>(function), 0, nullptr, nullptr};
}

Target find_in(const Object& object, const SymbolName& wanted, bool address_use) {
  const Elf64_Sym* symbol = object.file->symbols().find(wanted, address_use);
  return symbol != nullptr ? in_image(object, *symbol) : Target{};
}

Target find_in(const SystemModule& module, const SymbolName& wanted) {
  const Elf64_Sym* symbol = module.symbols.find(wanted);
  return symbol != nullptr ? in_module(module, *symbol) : Target{};
}

bool is_runtimes(std::string_view name) {
  for (const std::string_view beginning :
       {"MPI_", "PMPI_", "MPIX_", "PMPIX_", "mpi_", "pmpi_", "mpix_", "tmpi_"}) {
    if (name.starts_with(beginning)) return true;
  }
  return false;
}

bool found(const Target& target) {
  return target.kind != Target::Kind::kUndefined;
}

}  // namespace

Target in_image(const Object& object, const Elf64_Sym& symbol) {
  Target target{Target::Kind::kImage, symbol.st_value, symbol.st_size, &object, nullptr};
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if (type == STT_TLS) target.kind = Target::Kind::kImageTls;
  if (type == STT_GNU_IFUNC) target.kind = Target::Kind::kImageIfunc;
  if (symbol.st_shndx == SHN_ABS) target.kind = Target::Kind::kAbsolute;
  return target;
}

void Scope::add(const Place& place) {
  if (std::ranges::find(places_, place) == places_.end()) places_.push_back(place);
}

void Scope::add(const Object& object) {
  add({Place::Kind::kObject, &object, nullptr});
}

void Scope::add(const Scope& other) {
  others_.push_back(other.system_);
  others_.insert(others_.end(), other.others_.begin(), other.others_.end());
  for (const Place& place : other.places_) add(place);
}

void Scope::add_shared(const std::string& name) {
  if (const SystemModule* module = system_->module(name)) add({Place::Kind::kShared, nullptr, module});
}

void Scope::add_libc(const Object* shim) {
  const auto is_libc = [](const Place& place) { return place.kind == Place::Kind::kLibc; };
  if (std::ranges::none_of(places_, is_libc)) add({Place::Kind::kLibc, shim, nullptr});
}

void Scope::add_runtime() {
  add({Place::Kind::kRuntime, nullptr, nullptr});
}

void Scope::add_rest() {
  for (const auto& module : system_->modules()) add({Place::Kind::kShared, nullptr, module.get()});
}

Target Scope::find_in_libc(const Object* shim, const SymbolName& wanted, bool address_use) const {
  if (shim != nullptr) {
    if (const Target target = find_in(*shim, wanted, address_use); found(target)) return target;
  }
  if (const void* own = substituted_function(wanted.name)) return in_process(own);
  if (const void* own = runtime_function(wanted.name)) return in_process(own);
  // A sanitizer's __cxa_throw goes on to that of the process's C++ library, which counts in its own variables; it sees
  // what the rank's own throws in _Unwind_RaiseException.
  if (std::string_view(wanted.name).starts_with("__cxa_")) return {};
  for (const auto& module : system_->modules()) {
    if (!module->preloaded) continue;
    if (const Target target = find_in(*module, wanted); found(target)) return target;
  }
  return {};
}

Target Scope::find_at(const Place& place, const SymbolName& wanted, bool address_use,
                      const Object* skip) const {
  switch (place.kind) {
    case Place::Kind::kObject:
      return place.object == skip ? Target{} : find_in(*place.object, wanted, address_use);
    case Place::Kind::kShared:
      return find_in(*place.module, wanted);
    case Place::Kind::kLibc:
      return find_in_libc(place.object == skip ? nullptr : place.object, wanted, address_use);
    case Place::Kind::kRuntime:
      // It exports what it has copied of libc's, too (stderr), which is not what a library of MPI would.
      if (!is_runtimes(wanted.name)) return {};
      if (const void* own = substituted_function(wanted.name)) return in_process(own);
      return find_in(*system_->modules().front(), wanted);
  }
  return {};
}

Target Scope::find_from(std::size_t first, const SymbolName& wanted, bool address_use,
                        const Object* skip) const {
  for (std::size_t i = first; i < places_.size(); ++i) {
    if (const Target target = find_at(places_[i], wanted, address_use, skip); found(target)) return target;
  }
  return {};
}

Target Scope::find(const SymbolName& wanted, bool address_use, const Object* skip) const {
  return find_from(0, wanted, address_use, skip);
}

Target Scope::find_behind(const Object& object, const SymbolName& wanted) const {
  const auto at = std::ranges::find_if(places_, [&](const Place& place) { return place.object == &object; });
  const auto first = at == places_.end() ? 0 : static_cast<std::size_t>(at - places_.begin()) + 1;
  return find_from(first, wanted, false, nullptr);
}

Target Scope::find_outside(const SymbolName& wanted) const {
  for (const Place& place : places_) {
    if (place.kind != Place::Kind::kLibc && place.kind != Place::Kind::kRuntime) continue;
    if (const Target target = find_at(place, wanted, false, nullptr); found(target)) return target;
  }
  const SystemSymbol symbol = system_->find(wanted);
  return symbol ? in_module(*symbol.module, *symbol.symbol) : Target{};
}

}  // namespace tmpi::privatize
