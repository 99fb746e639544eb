#include "observe/line_numbers.hpp"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>

namespace tmpi::observe {

// The functions of libdw.so.1 that are used, with the types of its header.
struct LineNumbers::Library {
  decltype(&dwfl_begin) begin = nullptr;
  decltype(&dwfl_end) end = nullptr;
  decltype(&dwfl_report_elf) report_elf = nullptr;
  decltype(&dwfl_report_end) report_end = nullptr;
  decltype(&dwfl_module_getsrc) module_getsrc = nullptr;
  decltype(&dwfl_lineinfo) lineinfo = nullptr;
  decltype(&dwfl_module_addrdie) module_addrdie = nullptr;
  decltype(&dwarf_getscopes) getscopes = nullptr;
  decltype(&dwarf_tag) tag = nullptr;
  decltype(&dwarf_diename) diename = nullptr;
  Dwfl_Callbacks callbacks{};

  template <class Function>
  static bool bind(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }

  static std::unique_ptr<Library> load() {
    void* handle = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);  // stays: it is asked until the process ends
    if (handle == nullptr) return nullptr;
    auto library = std::make_unique<Library>();
    const bool complete =
        bind(handle, "dwfl_begin", library->begin) && bind(handle, "dwfl_end", library->end) &&
        bind(handle, "dwfl_report_elf", library->report_elf) &&
        bind(handle, "dwfl_report_end", library->report_end) &&
        bind(handle, "dwfl_module_getsrc", library->module_getsrc) &&
        bind(handle, "dwfl_lineinfo", library->lineinfo) &&
        bind(handle, "dwfl_module_addrdie", library->module_addrdie) &&
        bind(handle, "dwarf_getscopes", library->getscopes) && bind(handle, "dwarf_tag", library->tag) &&
        bind(handle, "dwarf_diename", library->diename) &&
        bind(handle, "dwfl_build_id_find_elf", library->callbacks.find_elf) &&
        bind(handle, "dwfl_standard_find_debuginfo", library->callbacks.find_debuginfo) &&
        bind(handle, "dwfl_offline_section_address", library->callbacks.section_address);
    if (!complete) library.reset();
    return library;
  }
};

// One object, reported at address 0, so that its own addresses are libdw's too.
struct LineNumbers::Debug {
  Debug(const Library& with, const std::string& path) : library(with), session(with.begin(&with.callbacks)) {
    if (session == nullptr) return;
    module = library.report_elf(session, path.c_str(), path.c_str(), -1, 0, true);
    library.report_end(session, nullptr, nullptr);
  }
  ~Debug() {
    if (session != nullptr) library.end(session);
  }
  Debug(const Debug&) = delete;

  /// The innermost function at an address; one that the compiler has inlined counts.
  std::string function_at(std::uint64_t address) const {
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = library.module_addrdie(module, address, &bias);
    Dwarf_Die* scopes = nullptr;
    const int count = unit == nullptr ? 0 : library.getscopes(unit, address - bias, &scopes);
    std::string name;
    for (int i = 0; i < count && name.empty(); ++i) {
      const int tag = library.tag(&scopes[i]);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      const char* known = library.diename(&scopes[i]);
      if (known == nullptr) break;
      name = known;
    }
    std::free(scopes);
    return name;
  }

  const Library& library;
  Dwfl* session;
  Dwfl_Module* module = nullptr;
};

LineNumbers::LineNumbers() : library_(Library::load()) {}
LineNumbers::~LineNumbers() = default;

std::optional<Line> LineNumbers::find(const std::string& object, std::uint64_t address) {
  if (library_ == nullptr) return std::nullopt;
  std::unique_ptr<Debug>& debug = objects_[object];
  if (debug == nullptr) debug = std::make_unique<Debug>(*library_, object);
  if (debug->module == nullptr) return std::nullopt;
  Dwfl_Line* found = library_->module_getsrc(debug->module, address);
  if (found == nullptr) return std::nullopt;
  Line line;
  const char* file = library_->lineinfo(found, nullptr, &line.number, nullptr, nullptr, nullptr);
  if (file == nullptr || line.number == 0) return std::nullopt;
  line.file = file;
  line.function = debug->function_at(address);
  return line;
}

}  // namespace tmpi::observe
