#include "privatize/set_builder.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "base/path.hpp"
#include "privatize/library_search.hpp"
#include "privatize/mapping_limit.hpp"
#include "privatize/own_thread_pointer.hpp"
#include "privatize/relocation.hpp"
#include "privatize/resolver.hpp"
#include "privatize/scope.hpp"
#include "privatize/shared_libraries.hpp"
#include "privatize/static_tls_pool.hpp"
#include "privatize/system_scope.hpp"
#include "privatize/x87_flags.hpp"

namespace tmpi::privatize {
namespace {

class Builder {
 public:
  explicit Builder(const SetRequest& request)
      : request_(request), set_(std::make_unique<ImageSet>(request.images, request.expected)) {}
  Result<std::unique_ptr<ImageSet>> build();
  Result<std::vector<LibraryRow>> list();

 private:
  /// A place in the order of search.
  struct Place {
    const Object* object;     // null: a shared library
    std::string shared = {};  // its name in DT_NEEDED; "": MPI
    std::string path = {};    // where it has been found; "": nowhere
    const Object* needed_by = nullptr;
  };

  Result<void> collect();
  Result<void> collect_needed(std::size_t index);
  Result<Object*> need(const std::string& name, const Object& from, std::size_t from_index);
  Result<Object*> add(const std::string& path, ElfFile::Role role, int needed_by);
  Result<Object*> open_beside(const std::string& path);
  bool is_ours(const std::string& path) const;
  std::string own_fortran_library() const;
  void note_replaced(const std::string& name, const std::string& path);
  Object* known(const std::string& name) const;
  SearchContext context(std::size_t index) const;
  std::shared_ptr<const Scope> make_scope() const;
  void add_own(Scope& scope) const;
  Result<void> bind();
  Result<void> choose_thread_pointers();
  Result<void> check_thread_pointers() const;
  Result<void> open_shared() const;
  static Result<void> open_shared(const Place& place);

  const SetRequest& request_;
  std::unique_ptr<ImageSet> set_;
  const Object* shim_ = nullptr;
  std::vector<Place> order_;          // what is needed, breadth first; without what LD_PRELOAD names
  std::vector<const Object*> first_;  // the program (or library) and what LD_PRELOAD names
  std::vector<int> needed_by_;        // index of the object that asked first; -1: nobody
};

Result<Object*> Builder::add(const std::string& path, ElfFile::Role role, int needed_by) {
  auto file = ElfFile::open(path, role);
  if (!file) return file.failure();
  needed_by_.push_back(needed_by);
  return &set_->add(std::move(*file));
}

Result<Object*> Builder::open_beside(const std::string& path) {
  auto objects = request_.open_needed(path);
  if (!objects) return objects.failure();
  for (const Object* object : *objects) order_.push_back({object});
  return const_cast<Object*>(objects->front());
}

/// True for what lies where tmpi's own libraries lie, or links to it.
bool Builder::is_ours(const std::string& path) const {
  std::error_code error;
  const auto here = std::filesystem::canonical(request_.shim, error).parent_path();
  return !error && std::filesystem::canonical(path, error).parent_path() == here;
}

/// Beside the shim; empty: there is none.
std::string Builder::own_fortran_library() const {
  const std::string path = directory_of(request_.shim) + "/libtmpifort.so";
  std::error_code error;
  return !request_.shim.empty() && std::filesystem::exists(path, error) ? path : std::string();
}

void Builder::note_replaced(const std::string& name, const std::string& path) {
  if (path.empty() || request_.shim.empty() || is_ours(path)) return;
  const auto same = [&](const ReplacedLibrary& other) { return other.path == path; };
  if (std::ranges::none_of(set_->replaced(), same)) set_->note_replaced({name, path});
}

Object* Builder::known(const std::string& name) const {
  const std::string_view wanted = file_of(name);
  auto is_it = [&](const Object& object) {
    return object.file->dynamic().soname == wanted || file_of(object.file->path()) == wanted;
  };
  for (const auto& object : set_->objects()) {
    if (is_it(*object)) return object.get();
  }
  if (request_.program == nullptr) return nullptr;
  for (const auto& object : request_.program->objects()) {
    if (is_it(*object)) return object.get();
  }
  for (const Object* object : request_.global) {
    if (is_it(*object)) return const_cast<Object*>(object);
  }
  return nullptr;
}

SearchContext Builder::context(std::size_t index) const {
  SearchContext context = search_context(*set_->objects()[index]->file, request_.libraries.search_path);
  for (int i = needed_by_[index]; i >= 0; i = needed_by_[i]) {
    const ElfFile& asking = *set_->objects()[i]->file;
    if (!asking.dynamic().rpath.empty())
      context.rpaths.emplace_back(asking.dynamic().rpath, directory_of(asking.path()));
  }
  return context;
}

Result<Object*> Builder::need(const std::string& name, const Object& from, std::size_t from_index) {
  if (Object* object = known(name)) return object;
  const Ownership ownership = library_owner(name, request_.libraries).ownership;
  std::string path = find_library(name, context(from_index));
  if (ownership == Ownership::kRuntime) {
    note_replaced(name, path);
    order_.push_back({nullptr});
    return nullptr;
  }
  if (const std::string own = is_fortran_runtime(name) ? own_fortran_library() : ""; !own.empty()) {
    note_replaced(name, path);
    path = own;
  }
  if (ownership == Ownership::kShared) {
    order_.push_back({nullptr, name, path, &from});
    return nullptr;
  }
  if (path.empty()) {
    return Failure{from.file->path() + ": needs the library " + name +
                   ", which was not found; set LD_LIBRARY_PATH to its directory, or relink with "
                   "-Wl,-rpath,DIRECTORY"};
  }
  if (request_.open_needed) return open_beside(path);
  auto added = add(path, ElfFile::Role::kLibrary, static_cast<int>(from_index));
  if (added) order_.push_back({*added});
  return added;
}

Result<void> Builder::collect_needed(std::size_t index) {
  Object& object = *set_->objects()[index];
  std::vector<std::string> names = object.file->dynamic().needed;
  if (index == 0) names.insert(names.end(), request_.needed.begin(), request_.needed.end());
  for (const std::string& name : names) {
    auto needed = need(name, object, index);
    if (!needed) return needed.failure();
    if (*needed != nullptr) object.needed.push_back(*needed);
  }
  return {};
}

Result<void> Builder::collect() {
  auto root = add(request_.path, request_.role, -1);
  if (!root) return root.failure();
  first_.push_back(*root);
  std::vector<Object*> preloaded;
  for (const std::string& path : request_.preload) {
    auto library = add(path, ElfFile::Role::kLibrary, -1);
    if (!library) return library.failure();
    preloaded.push_back(*library);
    first_.push_back(*library);
  }
  if (!request_.shim.empty()) {
    auto shim = add(request_.shim, ElfFile::Role::kLibrary, -1);
    if (!shim) return shim.failure();
    shim_ = *shim;
    (*root)->needed.push_back(*shim);  // first: its constructors run before everybody's
  }
  (*root)->needed.insert((*root)->needed.end(), preloaded.begin(), preloaded.end());
  // Breadth first, as the dynamic linker: the order in which symbols are searched.
  for (std::size_t i = 0; i < set_->objects().size(); ++i) {
    if (auto r = collect_needed(i); !r) return r;
  }
  return {};
}

void Builder::add_own(Scope& scope) const {
  for (const Object* object : first_) scope.add(*object);
  // What is preloaded into the process stands before all libraries there; a rank's libc belongs before it.
  const auto preloaded = [](const auto& module) { return module->preloaded; };
  if (std::ranges::any_of(scope.system().modules(), preloaded)) scope.add_libc(shim_);
  for (const Place& place : order_) {
    if (place.object != nullptr) {
      // The shim's versions of functions of libgomp (shim/openmp.cpp) stand in front of its own.
      if (file_of(place.object->file->path()).starts_with("libgomp.so.")) scope.add_libc(shim_);
      scope.add(*place.object);
    } else if (place.shared.empty()) {
      scope.add_runtime();
    } else if (file_of(place.shared).starts_with("libc.so.")) {
      scope.add_libc(shim_);
    } else {
      scope.add_shared(place.shared);
    }
  }
}

std::shared_ptr<const Scope> Builder::make_scope() const {
  auto scope = std::make_shared<Scope>(SystemScope::snapshot());
  if (request_.own_first) add_own(*scope);
  if (request_.program != nullptr) scope->add(request_.program->scope());
  for (const Object* object : request_.global) scope->add(*object);
  add_own(*scope);
  scope->add_libc(shim_);
  scope->add_runtime();
  scope->add_rest();
  return scope;
}

Result<void> Builder::open_shared(const Place& place) {
  const std::string& name = place.shared;
  const std::string& by = place.needed_by->file->path();
  if (is_early_sanitizer(file_of(name)) && dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr) {
    return Failure{
        by + ": was compiled with a sanitizer, whose library must be in the node process from its start, " +
        "and the program does not need it: compile that with the sanitizer, too, or LD_PRELOAD=" +
        (place.path.empty() ? name : place.path) + " tmpirun ..."};
  }
  // Of libc's family there is one in a process, whatever else is found.
  const std::string& first = is_libcs(file_of(name)) || place.path.empty() ? name : place.path;
  if (SystemScope::open(first.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  if (SystemScope::open(name.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  const char* const why = dlerror();
  return Failure{by + ": needs the library " + name + ", which cannot be loaded (" +
                 (why != nullptr ? why : "no reason given") + ")"};
}

Result<void> Builder::open_shared() const {
  for (const Place& place : order_) {
    if (place.needed_by == nullptr) continue;
    if (auto r = open_shared(place); !r) return r;
  }
  return {};
}

/// Whether ranks run with thread pointers of their own, so that each has a pool of static thread-local memory.
Result<void> Builder::choose_thread_pointers() {
  if (request_.program != nullptr) {
    if (request_.program->needs_thread_pointer()) set_->need_thread_pointer();
    return {};
  }
  if (set_->needs_thread_pointer()) return check_thread_pointers();
  const auto ranks = static_cast<std::uint64_t>(set_->expected());
  if (!static_tls_pool().has_room(set_->static_tls_size(), ranks) && can_have_thread_pointers())
    set_->need_thread_pointer();
  return {};
}

Result<void> Builder::check_thread_pointers() const {
  const ElfFile& program = *set_->objects().front()->file;
  const Result<void> possible = can_have_thread_pointers();
  if (possible) return {};
  return Failure{program.path() +
                 ": was not built for tmpi: it is an ordinary executable with thread-local variables, for "
                 "which each rank needs a thread pointer of its own (" +
                 possible.message() +
                 "); rebuild it with tmpicc or tmpicxx as the compiler (with find_package(MPI), or meson's "
                 "dependency('mpi'), another compiler does the link)"};
}

Result<void> Builder::bind() {
  if (auto r = open_shared(); !r) return r;
  const std::shared_ptr<const Scope> scope = make_scope();
  set_->keep_scope(scope);
  set_->set_libraries(request_.libraries);
  set_->set_stands_for(request_.stands_for);
  Resolver resolver(*scope);
  Relocator relocator(*set_, resolver);
  relocator.find_static_tls();
  if (auto r = choose_thread_pointers(); !r) return r;
  if (auto r = set_->lay_out(); !r) return r;
  if (auto r = relocator.relocate(); !r) return r;
  if (request_.check_limit) {
    if (auto r = check_mapping_limit(*set_); !r) return r;
  }
  if (auto r = set_->reserve(); !r) return r;
  if (!relocator.has_indirect_functions()) return {};
  if (auto r = set_->map(0, -1); !r) return r;
  relocator.resolve_indirect_functions(0);
  set_->unmap(0);
  return {};
}

std::uint64_t data_of(const ElfFile& file) {
  std::uint64_t bytes = 0;
  for (const Elf64_Phdr& segment : file.loads()) bytes += (segment.p_flags & PF_W) != 0 ? segment.p_memsz : 0;
  const Elf64_Phdr* const tls = file.segment(PT_TLS);
  return bytes + (tls != nullptr ? tls->p_memsz : 0);
}

Result<std::vector<LibraryRow>> Builder::list() {
  if (auto r = collect(); !r) return r.failure();
  std::vector<LibraryRow> rows;
  const auto add_own = [&](const Object& object, const LibraryOwner& owner) {
    rows.push_back(
        {std::string(file_of(object.file->path())), object.file->path(), owner, data_of(*object.file)});
  };
  for (const Object* object : first_) {
    add_own(*object, {Ownership::kPrivate, object != first_.front() ? "LD_PRELOAD"
                                           : object->file->has_placed_tls()
                                               ? "the program; a thread pointer for each rank"
                                               : "the program"});
  }
  if (shim_ != nullptr) add_own(*shim_, {Ownership::kPrivate, "what of libc's state is a rank's"});
  const auto system = SystemScope::snapshot();
  const auto replaced = [&](std::string_view name) -> std::string {
    for (const ReplacedLibrary& one : set_->replaced()) {
      if (is_fortran_runtime(name) == is_fortran_runtime(one.name)) return one.path;
    }
    return {};
  };
  for (const Place& place : order_) {
    if (place.object != nullptr) {
      add_own(*place.object, library_owner(file_of(place.object->file->path()), request_.libraries));
      if (is_fortran_runtime(rows.back().name)) rows.back().instead_of = replaced(rows.back().name);
      continue;
    }
    const SystemModule* const module = place.shared.empty() ? nullptr : system->module(place.shared);
    LibraryRow row{"libmpi_abi.so", {}, {}};
    if (!place.shared.empty()) {
      row.name = file_of(place.shared);
      row.path = module != nullptr ? module->name : place.path.empty() ? "not found" : place.path;
    }
    row.owner = library_owner(row.name, request_.libraries);
    if (row.owner.ownership == Ownership::kRuntime) row.instead_of = replaced(row.name);
    const auto same = [&](const LibraryRow& other) { return other.name == row.name; };
    if (std::ranges::none_of(rows, same)) rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::unique_ptr<ImageSet>> Builder::build() {
  if (auto r = collect(); !r) return r.failure();
  if (auto r = bind(); !r) return r.failure();
  for (const auto& object : set_->objects()) watch_x87_flags(object->file->symbols());
  return std::move(set_);
}

}  // namespace

Result<std::unique_ptr<ImageSet>> build_set(const SetRequest& request) {
  return Builder(request).build();
}

Result<std::vector<LibraryRow>> list_libraries(const SetRequest& request) {
  return Builder(request).list();
}

}  // namespace tmpi::privatize
