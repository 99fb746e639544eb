#include "observe/call_sites.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace tmpi::observe {
namespace {

std::string readable(const char* symbol) {
  int status = -1;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                    std::free);
  std::string name = status == 0 ? text.get() : symbol;
  // Arguments make names of templates endless; the line says which overload it is.
  if (status == 0) name = name.substr(0, name.find('('));
  const std::size_t part = name.find('.');  // gcc's "solve.constprop.0"
  return part == std::string::npos || part == 0 ? name : name.substr(0, part);
}

/// Code in no image: a system library that calls MPI.
CodePlace in_library(std::uint64_t address) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(address), &info) == 0) return {};
  return {info.dli_fname, address - reinterpret_cast<std::uint64_t>(info.dli_fbase), info.dli_sname};
}

}  // namespace

CallSite CallSites::describe(const CodePlace& place, std::uint64_t return_address) {
  CallSite site;
  if (place.object == nullptr) {
    site.offset = return_address;
    return site;
  }
  site.object = place.object;
  site.offset = place.offset + 1;  // one byte was taken off to land in the call itself
  if (place.symbol != nullptr) site.caller = readable(place.symbol);
  if (const std::optional<Line> line = lines_.find(site.object, place.offset)) {
    site.file = line->file;
    site.line = line->number;
    if (!line->function.empty()) site.caller = line->function;
  }
  return site;
}

std::size_t CallSites::at(std::uint64_t return_address) {
  if (const auto known = by_address_.find(return_address); known != by_address_.end()) return known->second;
  // The call is the instruction before the one it returns to.
  CodePlace place = describe_(reinterpret_cast<const void*>(return_address - 1));
  if (place.object == nullptr) place = in_library(return_address - 1);
  const std::pair<std::string, std::size_t> key =
      place.object == nullptr ? std::pair{std::string(), static_cast<std::size_t>(return_address)}
                              : std::pair{std::string(place.object), place.offset};
  auto known = by_place_.find(key);
  if (known == by_place_.end()) known = by_place_.emplace(key, add(describe(place, return_address))).first;
  by_address_.emplace(return_address, known->second);
  return known->second;
}

std::size_t CallSites::add(CallSite site) {
  const auto [entry, fresh] = by_site_.try_emplace({site.object, identity(site)}, sites_.size());
  if (fresh) sites_.push_back(std::move(site));
  return entry->second;
}

}  // namespace tmpi::observe
