// What the unwinder asks. libgcc finds the frames of an address through _dl_find_object, LLVM's libunwind
// through dl_iterate_phdr; the node executable exports both (exports.list), so that they answer for images in
// constant time and pass on everything else.
#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "privatize/arena_registry.hpp"
#include "privatize/image_set.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/thread_context.hpp"

using tmpi::privatize::ImageLocation;
using tmpi::privatize::ImageSet;
using tmpi::privatize::Object;

namespace {

using FindObject = int (*)(void*, dl_find_object*);
using IteratePhdr = int (*)(int (*)(dl_phdr_info*, std::size_t, void*), void*);

// Looked up before anything can throw, since dlsym is not async-signal-safe and a crash report unwinds too.
FindObject real_find_object;
IteratePhdr real_iterate_phdr;

__attribute__((constructor)) void find_real_functions() {
  real_find_object = reinterpret_cast<FindObject>(dlsym(RTLD_NEXT, "_dl_find_object"));
  real_iterate_phdr = reinterpret_cast<IteratePhdr>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
}

/// For how many objects came and went, which all entries say.
int copy_first(dl_phdr_info* info, std::size_t size, void* data) {
  std::memcpy(data, info, size < sizeof *info ? size : sizeof *info);
  return 1;
}

/// Reports the objects of one image, the first one without a name if it is to be the executable; stops when the callback
/// returns non-zero.
int iterate_image(const ImageSet& set, int index, const dl_phdr_info& like, bool is_executable,
                  int (*callback)(dl_phdr_info*, std::size_t, void*), void* data) {
  bool main = is_executable;
  for (const auto& object : set.objects()) {
    dl_phdr_info info = like;
    const auto headers = object->file->program_headers();
    info.dlpi_addr = set.base(index) + object->offset;
    info.dlpi_name = main ? "" : object->file->path().c_str();
    info.dlpi_phdr = headers.data();
    info.dlpi_phnum = static_cast<Elf64_Half>(headers.size());
    info.dlpi_tls_modid = 0;
    info.dlpi_tls_data = nullptr;
    main = false;
    if (const int stop = callback(&info, sizeof info, data); stop != 0) return stop;
  }
  return 0;
}

/// The calling rank's images. An executable has no name, and one is enough: who reads debugging information takes an
/// object without a name for the file of the process.
int iterate_images(bool has_executable, int (*callback)(dl_phdr_info*, std::size_t, void*), void* data) {
  const int rank = tmpi::privatize::thread_context().rank;
  const tmpi::privatize::RankState* state = rank < 0 ? nullptr : tmpi::privatize::rank_state(rank);
  if (state == nullptr) return 0;
  dl_phdr_info first{};
  real_iterate_phdr(&copy_first, &first);
  int stop = 0;
  state->for_each_image([&](const ImageSet& set, int index) {
    if (stop == 0)
      stop = iterate_image(set, index, first, has_executable && &set == state->set, callback, data);
  });
  return stop;
}

struct Outer {
  int (*callback)(dl_phdr_info*, std::size_t, void*);
  void* data;
};

/// The executable of the process is not the rank's: it gets a name like any library.
int forward(dl_phdr_info* info, std::size_t size, void* data) {
  const auto* outer = static_cast<Outer*>(data);
  if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') return outer->callback(info, size, outer->data);
  dl_phdr_info named{};
  std::memcpy(&named, info, size < sizeof named ? size : sizeof named);
  named.dlpi_name = "tmpi-node";
  return outer->callback(&named, size < sizeof named ? size : sizeof named, outer->data);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int _dl_find_object(void* address, dl_find_object* result) {
  const ImageLocation where = tmpi::privatize::locate(address);
  if (!where) {
    if (real_find_object == nullptr) find_real_functions();  // another library's constructor throws
    return real_find_object(address, result);
  }
  const Object* object = where.set->object_at(where.offset);
  if (object == nullptr || object->eh_frame == 0) return -1;
  const std::uint64_t base = where.set->base(where.index);
  *result = {};
  result->dlfo_map_start = reinterpret_cast<void*>(base + object->text_begin);
  result->dlfo_map_end = reinterpret_cast<void*>(base + object->text_end);
  result->dlfo_link_map = nullptr;
  result->dlfo_eh_frame = reinterpret_cast<void*>(base + object->at(object->eh_frame));
  return 0;
}

// Called by what is shared: a sanitizer takes what comes first for the executable of the process. Of the images only the
// calling rank's are reported: nobody unwinds another rank's code, and ten thousand entries would make every throw slow.
// Also called before AddressSanitizer is ready: nothing that it watches may be called.
extern "C" __attribute__((visibility("default"))) int dl_iterate_phdr(int (*callback)(dl_phdr_info*,
                                                                                      std::size_t, void*),
                                                                      void* data) {
  if (real_iterate_phdr == nullptr) find_real_functions();
  if (const int stop = real_iterate_phdr(callback, data); stop != 0) return stop;
  return iterate_images(false, callback, data);
}

// Called by code in images: the program comes first, as in a process.
extern "C" int tmpi_dl_iterate_phdr(int (*callback)(dl_phdr_info*, std::size_t, void*), void* data) {
  if (real_iterate_phdr == nullptr) find_real_functions();
  if (const int stop = iterate_images(true, callback, data); stop != 0) return stop;
  Outer outer{callback, data};
  return real_iterate_phdr(&forward, &outer);
}
