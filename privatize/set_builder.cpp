#include "privatize/set_builder.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "privatize/library_search.hpp"
#include "privatize/mapping_limit.hpp"
#include "privatize/relocation.hpp"
#include "privatize/resolver.hpp"
#include "privatize/system_scope.hpp"

namespace tmpi::privatize {
namespace {

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Sanitizers end the process when they are loaded late.
const char* sanitizer_of(const std::string& library) {
  if (library.rfind("libasan.so", 0) == 0) return "AddressSanitizer";
  if (library.rfind("libtsan.so", 0) == 0) return "ThreadSanitizer";
  return nullptr;
}

class Builder {
 public:
  explicit Builder(const SetRequest& request)
      : request_(request), set_(std::make_unique<ImageSet>(request.images)) {}
  Result<std::unique_ptr<ImageSet>> build();

 private:
  Result<void> collect();
  Result<void> collect_needed(std::size_t index);
  Result<Object*> need(const std::string& name, const Object& from, std::size_t from_index);
  Result<Object*> add(const std::string& path, ElfFile::Role role, int needed_by);
  Result<Object*> open_beside(const std::string& path);
  Object* known(const std::string& name) const;
  SearchContext context(std::size_t index) const;
  Result<void> bind();

  const SetRequest& request_;
  std::unique_ptr<ImageSet> set_;
  std::vector<const Object*> beside_;  // of other sets, opened because this one needs them
  std::vector<int> needed_by_;         // index of the object that asked first; -1: nobody
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
  for (const Object* object : *objects) {
    if (std::find(beside_.begin(), beside_.end(), object) == beside_.end()) beside_.push_back(object);
  }
  return const_cast<Object*>(objects->front());
}

Object* Builder::known(const std::string& name) const {
  const std::string wanted = base_name(name);
  auto is_it = [&](const Object& object) {
    return object.file->dynamic().soname == wanted || base_name(object.file->path()) == wanted;
  };
  for (const auto& object : set_->objects()) {
    if (is_it(*object)) return object.get();
  }
  for (const Object* object : request_.parents) {
    if (is_it(*object)) return const_cast<Object*>(object);
  }
  return nullptr;
}

SearchContext Builder::context(std::size_t index) const {
  const ElfFile& file = *set_->objects()[index]->file;
  SearchContext context;
  context.origin = directory_of(file.path());
  context.runpath = file.dynamic().runpath;
  for (int i = static_cast<int>(index); i >= 0; i = needed_by_[i]) {
    const ElfFile& asking = *set_->objects()[i]->file;
    if (!asking.dynamic().rpath.empty())
      context.rpaths.emplace_back(asking.dynamic().rpath, directory_of(asking.path()));
  }
  return context;
}

Result<Object*> Builder::need(const std::string& name, const Object& from, std::size_t from_index) {
  if (Object* object = known(name)) return object;
  const std::string path = find_library(name, context(from_index));
  switch (ownership(name, path, request_.private_libstdcxx)) {
    case Ownership::kRuntime:
      return nullptr;
    case Ownership::kPrivate:
      if (!path.empty() && request_.open_needed) return open_beside(path);
      if (!path.empty()) return add(path, ElfFile::Role::kLibrary, static_cast<int>(from_index));
      break;
    case Ownership::kShared:
      if (const char* sanitizer = sanitizer_of(name);
          sanitizer != nullptr && dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr) {
        return Failure{from.file->path() + ": was compiled with " + sanitizer +
                       ", whose library must be in the node process from its start: LD_PRELOAD=" +
                       (path.empty() ? name : path) + " tmpirun ..."};
      }
      // By its name where possible, so that a library that is there already is used.
      if (dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return nullptr;
      if (!path.empty() && dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return nullptr;
      break;
  }
  const char* why = path.empty() ? nullptr : dlerror();
  return Failure{
      from.file->path() + ": needs the library " + name + ", which " +
      (why != nullptr
           ? std::string("cannot be loaded (") + why + ")"
           : "was not found; set LD_LIBRARY_PATH to its directory, or relink with -Wl,-rpath,DIRECTORY")};
}

Result<void> Builder::collect_needed(std::size_t index) {
  Object& object = *set_->objects()[index];
  for (const std::string& name : object.file->dynamic().needed) {
    auto needed = need(name, object, index);
    if (!needed) return needed.failure();
    if (*needed != nullptr) object.needed.push_back(*needed);
  }
  return {};
}

Result<void> Builder::collect() {
  auto root = add(request_.path, request_.role, -1);
  if (!root) return root.failure();
  std::vector<Object*> preloaded;
  for (const std::string& path : request_.preload) {
    auto library = add(path, ElfFile::Role::kLibrary, -1);
    if (!library) return library.failure();
    preloaded.push_back(*library);
  }
  if (!request_.shim.empty()) {
    auto shim = add(request_.shim, ElfFile::Role::kLibrary, -1);
    if (!shim) return shim.failure();
    (*root)->needed.push_back(*shim);  // first: its constructors run before everybody's
  }
  (*root)->needed.insert((*root)->needed.end(), preloaded.begin(), preloaded.end());
  // Breadth first, as the dynamic linker: the order in which symbols are searched.
  for (std::size_t i = 0; i < set_->objects().size(); ++i) {
    if (auto r = collect_needed(i); !r) return r;
  }
  return {};
}

Result<void> Builder::bind() {
  const SystemScope system = SystemScope::snapshot();
  std::vector<const Object*> scope = request_.parents;
  for (const auto& object : set_->objects()) scope.push_back(object.get());
  scope.insert(scope.end(), beside_.begin(), beside_.end());
  Resolver resolver(std::move(scope), system);
  Relocator relocator(*set_, resolver);
  relocator.find_static_tls();
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

Result<std::unique_ptr<ImageSet>> Builder::build() {
  if (auto r = collect(); !r) return r.failure();
  if (auto r = bind(); !r) return r.failure();
  return std::move(set_);
}

}  // namespace

Result<std::unique_ptr<ImageSet>> build_set(const SetRequest& request) {
  return Builder(request).build();
}

}  // namespace tmpi::privatize
