// dlopen inside a rank: a library of the user joins the rank's image with its own data; a library of the
// system is opened as ever. Each such library is an ImageSet of its own, built when the first rank opens it,
// mapped at the same index as the rank's program, so that references between sets are one addition too.
// dlclose keeps the library until the rank ends, as POSIX allows.
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <tuple>

#include "privatize/arena_registry.hpp"
#include "privatize/debugger.hpp"
#include "privatize/dl_scope.hpp"
#include "privatize/entry.hpp"
#include "privatize/library_search.hpp"
#include "privatize/link_maps.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/scope.hpp"
#include "privatize/set_builder.hpp"
#include "privatize/thread_context.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::privatize {
namespace {

/// A library made ready for all ranks of one program.
struct Plugin {
  std::unique_ptr<ImageSet> set;
  std::vector<Plugin*> needed;  ///< mapped before it
  const Object& root() const { return *set->objects().front(); }
};

/// Identifies a file however it is spelled, per program.
using PluginKey = std::tuple<const ImageSet*, dev_t, ino_t>;

class PluginTable {
 public:
  /// Builds the library and what it needs, unless some rank has opened it before.
  Result<Plugin*> get(const RankState& state, const std::string& path, bool own_first = false);
  void forget(const ImageSet& program) {
    std::erase_if(plugins_, [&](const auto& entry) { return std::get<0>(entry.first) == &program; });
  }
  std::mutex mutex;

 private:
  std::map<PluginKey, std::unique_ptr<Plugin>> plugins_;
  std::set<PluginKey> being_built_;
};

PluginTable& plugin_table() {
  static auto* table = new PluginTable;  // ranks may still run while the process ends
  return *table;
}

void add_closure(const Plugin& plugin, std::vector<const Object*>& objects) {
  if (std::find(objects.begin(), objects.end(), &plugin.root()) != objects.end()) return;
  objects.push_back(&plugin.root());
  for (const Plugin* needed : plugin.needed) add_closure(*needed, objects);
}

Result<Plugin*> PluginTable::get(const RankState& state, const std::string& path, bool own_first) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return Failure{path + ": cannot be opened"};
  const PluginKey key{state.set, status.st_dev, status.st_ino};
  if (const auto it = plugins_.find(key); it != plugins_.end()) return it->second.get();
  if (!being_built_.insert(key).second) {
    return Failure{path +
                   ": needs itself through other libraries; link those that need each other into one "
                   "library, or with the program"};
  }
  auto plugin = std::make_unique<Plugin>();
  SetRequest request;
  request.path = path;
  request.role = ElfFile::Role::kLibrary;
  request.images = state.set->images();
  request.expected = state.set->expected();
  request.check_limit = false;
  request.program = state.set;
  request.global = opened_globally(state);
  request.own_first = own_first;
  request.libraries = state.set->libraries();
  request.open_needed = [&](const std::string& needed) -> Result<std::vector<const Object*>> {
    auto other = get(state, needed);
    if (!other) return other.failure();
    plugin->needed.push_back(*other);
    std::vector<const Object*> closure;
    add_closure(**other, closure);
    return closure;
  };
  struct Building {
    ~Building() { keys.erase(key); }
    std::set<PluginKey>& keys;
    const PluginKey& key;
  } const building{being_built_, key};
  auto set = build_set(request);
  if (!set) return set.failure();
  plugin->set = std::move(*set);
  return plugins_.emplace(key, std::move(plugin)).first->second.get();
}

OpenedLibrary* opened_entry(RankState& state, const Plugin& plugin) {
  for (OpenedLibrary* library : state.opened) {
    if (library->set == plugin.set.get()) return library;
  }
  return nullptr;
}

/// Maps the plugin and what it needs for the rank; those mapped now are appended to `fresh`, dependencies
/// first.
Result<void> map_for(RankState& state, const Plugin& plugin, std::vector<OpenedLibrary*>& fresh) {
  if (opened_entry(state, plugin) != nullptr) return {};
  for (const Plugin* needed : plugin.needed) {
    if (auto r = map_for(state, *needed, fresh); !r) return r;
  }
  if (auto r = plugin.set->map(state.index, state.rank); !r) return r;
  initialise_static_tls(*plugin.set, state.index);
  if (plugin.set->has_static_tls() && state.thread_pointer == nullptr) stay_on_thread(state.rank);
  announce_image(*plugin.set, state.index);
  auto library = std::make_unique<OpenedLibrary>();
  library->set = plugin.set.get();
  library->root = &plugin.root();
  fresh.push_back(library.get());  // the last that can fail
  const std::lock_guard lock(state.lock);
  state.opened.add(std::move(library));
  return {};
}

/// A member of the program's own set under this name or path, or null.
const Object* member(const RankState& state, const std::string& name, const std::string& path) {
  struct stat wanted {
  }, have{};
  const bool is_file = !path.empty() && stat(path.c_str(), &wanted) == 0;
  for (const auto& object : state.set->objects()) {
    if (object->file->dynamic().soname == name) return object.get();
    if (is_file && fstat(object->file->fd(), &have) == 0 && have.st_dev == wanted.st_dev &&
        have.st_ino == wanted.st_ino) {
      return object.get();
    }
  }
  return nullptr;
}

SearchContext context_of(const RankState& state, const Object* caller) {
  const std::string& library_path = state.set->libraries().search_path;
  if (caller != nullptr) return search_context(*caller->file, library_path);
  SearchContext context;
  context.library_path = library_path;
  return context;
}

Result<OpenedLibrary*> open_private(RankState& state, const std::string& path, bool own_first) {
  std::vector<OpenedLibrary*> fresh;
  OpenedLibrary* result = nullptr;
  {
    // Held for building and mapping only, never while the library's own code runs: that may suspend the
    // fiber.
    const std::lock_guard lock(plugin_table().mutex);
    auto plugin = plugin_table().get(state, path, own_first);
    if (!plugin) return plugin.failure();
    if (auto r = map_for(state, **plugin, fresh); !r) return r.failure();
    result = opened_entry(state, **plugin);
  }
  for (OpenedLibrary* library : fresh) {
    library->initialised = true;
    run_constructors(*library->set, state.index, state.argc, state.argv, state.argv + state.argc + 1);
  }
  return result;
}

void* open_program(RankState& state) {
  link_map* const handle = link_map_of(state, *state.set->objects().front());
  state.program_handle.store(handle, std::memory_order_relaxed);
  return handle;
}

void* open_member(RankState& state, const Object& object) {
  for (OpenedLibrary* library : state.opened) {
    if (library->root == &object) return library->handle;
  }
  auto library = std::make_unique<OpenedLibrary>();
  library->set = state.set;
  library->root = &object;
  library->handle = link_map_of(state, object);
  const std::lock_guard lock(state.lock);
  return state.opened.add(std::move(library))->handle;
}

void* open_for(RankState& state, const char* file, int mode, const void* caller) {
  const ImageLocation where = locate(caller);
  const Object* asking = where ? where.set->object_at(where.offset) : nullptr;
  const std::string path = find_library(file, context_of(state, asking));
  if (const Object* object = member(state, file, path)) return open_member(state, *object);
  switch (library_owner(file, state.set->libraries()).ownership) {
    case Ownership::kRuntime:
      return open_program(state);
    case Ownership::kShared:
      if (void* const opened = SystemScope::open(path.empty() ? file : path.c_str(), mode)) return opened;
      keep_dl_error(state);
      return nullptr;
    case Ownership::kPrivate:
      break;
  }
  if (path.empty() || (mode & RTLD_NOLOAD) != 0) {
    set_dl_error(state, std::string(file) + ": cannot open shared object file");
    return nullptr;
  }
  auto library = open_private(state, path, (mode & RTLD_DEEPBIND) != 0);
  if (!library) {
    set_dl_error(state, library.message());
    return nullptr;
  }
  ++(*library)->references;
  (*library)->global |= (mode & RTLD_GLOBAL) != 0;
  (*library)->handle = link_map_of(state, *(*library)->root);
  return (*library)->handle;
}

}  // namespace

RankState* calling_rank(const void* caller) noexcept {
  const ImageLocation where = locate(caller);
  return rank_state(where ? where.set->rank(where.index) : thread_context().rank);
}

std::vector<const Object*> opened_globally(const RankState& state) {
  std::vector<const Object*> objects;
  for (const OpenedLibrary* library : state.opened) {
    if (!library->global || library->set == state.set) continue;
    for (const Object* object : library_scope(*library)) objects.push_back(object);
  }
  return objects;
}

std::vector<const Object*> library_scope(const OpenedLibrary& library) {
  std::vector<const Object*> scope{library.root};
  for (std::size_t i = 0; i < scope.size(); ++i) {
    for (const Object* needed : scope[i]->needed) {
      if (std::find(scope.begin(), scope.end(), needed) == scope.end()) scope.push_back(needed);
    }
  }
  return scope;
}

bool is_program(const RankState& state, const void* handle) noexcept {
  return handle != nullptr && handle == state.program_handle.load(std::memory_order_relaxed);
}

OpenedLibrary* as_opened(RankState& state, void* handle) noexcept {
  for (OpenedLibrary* library : state.opened) {
    if (handle != nullptr && library->handle == handle) return library;
  }
  return nullptr;
}

void forget_opened(const ImageSet& program) {
  const std::lock_guard lock(plugin_table().mutex);
  plugin_table().forget(program);
}

void set_dl_error_no_memory(RankState& state) noexcept {
  state.dl_error = "out of memory";  // short enough to need none
}

void keep_dl_error(RankState& state) noexcept {
  const char* text = ::dlerror();
  if (text == nullptr) return;
  try {
    state.dl_error = text;
  } catch (const std::bad_alloc&) {
    set_dl_error_no_memory(state);
  }
}

void set_dl_error(RankState& state, std::string text) {
  ::dlerror();  // libc's own text of the same failed search would come second
  state.dl_error = std::move(text);
}

extern "C" void* tmpi_dlopen(const char* file, int mode) {
  const void* caller = __builtin_return_address(0);
  RankState* state = calling_rank(caller);
  if (state == nullptr) return ::dlopen(file, mode);
  try {
    if (file == nullptr || *file == '\0') return open_program(*state);
    return open_for(*state, file, mode, caller);
  } catch (const std::bad_alloc&) {
    set_dl_error_no_memory(*state);
    return nullptr;
  }
}

extern "C" int tmpi_dlclose(void* handle) {
  RankState* state = calling_rank(__builtin_return_address(0));
  if (state == nullptr) return ::dlclose(handle);
  if (is_program(*state, handle)) return 0;
  OpenedLibrary* library = as_opened(*state, handle);
  if (library == nullptr) {
    const int failed = ::dlclose(handle);
    if (failed != 0) keep_dl_error(*state);
    return failed;
  }
  --library->references;
  return 0;
}

}  // namespace tmpi::privatize
