#include "privatize/entry.hpp"

#include <alloca.h>
#include <elf.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "privatize/arena_registry.hpp"
#include "privatize/fallback_exit.hpp"
#include "privatize/rank_callbacks.h"
#include "privatize/rank_slots.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/thread_context.hpp"
#include "privatize/thread_hooks.hpp"
#include "privatize/tls.hpp"

namespace tmpi::privatize {
namespace {

using Main = int (*)(int, char**, char**);
using Exit = void (*)(int);

template <class Pointer>
Pointer at(const ImageSet& set, int index, std::uint64_t offset) {
  return reinterpret_cast<Pointer>(set.base(index) + offset);
}

[[noreturn]] void leave(int code) noexcept {
  const RankState* state = rank_state(thread_context().rank);
  if (state != nullptr) {
    const EntryPoints points = find_entry_points(*state->set);
    if (points.shim_exit != 0) at<Exit>(*state->set, state->index, points.shim_exit)(code);
    fallback_exit(code);
  }
  _exit(code);
}

bool same_name(const char* a, const char* b) {
  const char* end_a = std::strchr(a, '=');
  const char* end_b = std::strchr(b, '=');
  return end_a != nullptr && end_b != nullptr && end_a - a == end_b - b && std::memcmp(a, b, end_a - a) == 0;
}

/// One line of a rank's environment. What the node process itself has is shared by all ranks, not copied: 2
/// KB per rank less. Of ranks with slots all is their own.
struct Variable {
  const char* text;
  bool copied;
};

/// The process's environment with `lines` put over it.
std::vector<Variable> merge_environment(const std::vector<std::string>& lines) {
  std::vector<Variable> merged;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    merged.push_back({*variable, RankSlots::get() != nullptr});
  const std::size_t inherited = merged.size();
  for (const std::string& line : lines) {
    std::size_t i = 0;
    while (i < inherited && !same_name(merged[i].text, line.c_str())) ++i;
    if (i < inherited) {
      merged[i] = {line.c_str(), true};
    } else {
      merged.push_back({line.c_str(), true});
    }
  }
  return merged;
}

/// Sizes of the block that the kernel lays at the top of a new process's stack.
struct StackBlock {
  std::size_t words = 0, bytes = 0;
};

StackBlock measure(const std::vector<std::string>& arguments, const std::vector<Variable>& environment) {
  StackBlock block;
  block.words =
      1 + arguments.size() + 1 + environment.size() + 1 + 4;  // argc, argv, envp, two auxiliary entries
  for (const std::string& argument : arguments) block.bytes += argument.size() + 1;
  for (const Variable& variable : environment)
    block.bytes += variable.copied ? std::strlen(variable.text) + 1 : 0;
  return block;
}

/// Fills `words` (and the strings behind them): argc, argv..., 0, envp..., 0, AT_PAGESZ, AT_NULL.
void fill(std::uint64_t* words, const StackBlock& block, const std::vector<std::string>& arguments,
          const std::vector<Variable>& environment) {
  auto* strings = reinterpret_cast<char*>(words + block.words);
  auto copy = [&](const char* text) {
    const std::size_t size = std::strlen(text) + 1;
    char* start = strings;
    std::memcpy(start, text, size);
    strings += size;
    return start;
  };
  *words++ = arguments.size();
  for (const std::string& argument : arguments)
    *words++ = reinterpret_cast<std::uint64_t>(copy(argument.c_str()));
  *words++ = 0;
  for (const Variable& variable : environment) {
    *words++ = reinterpret_cast<std::uint64_t>(variable.copied ? copy(variable.text) : variable.text);
  }
  *words++ = 0;
  *words++ = AT_PAGESZ;
  *words++ = kPage;
  *words++ = AT_NULL;
  *words++ = 0;
}

/// Everything of a start that owns memory, so that nothing is left behind by run_rank, which never returns.
StackBlock prepare(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                   std::uint64_t* words) {
  const std::vector<Variable> merged = merge_environment(environment);
  const StackBlock block = measure(arguments, merged);
  if (words != nullptr) fill(words, block, arguments, merged);
  return block;
}

/// Offset in the image of what has this name, in a segment with all of `flags`; 0 if there is none.
std::uint64_t find_symbol(const Object& object, const char* name, std::uint64_t size, std::uint32_t flags) {
  const Elf64_Sym* symbol = object.file->symbols().find({name, nullptr});
  const bool usable = symbol != nullptr && object.file->in_memory(symbol->st_value, size, flags);
  return usable ? object.at(symbol->st_value) : 0;
}
std::uint64_t find_code(const Object& object, const char* name) {
  return find_symbol(object, name, 1, PF_X);
}
std::uint64_t find_data(const Object& object, const char* name) {
  return find_symbol(object, name, sizeof(int), PF_W);
}

void call_array(const ImageSet& set, int index, const Object& object, std::uint64_t array, std::uint64_t size,
                int argc, char** argv, char** envp) {
  auto* functions = at<Main*>(set, index, object.at(array));
  for (std::size_t i = 0; i < size / sizeof(Main); ++i) {
    if (functions[i] != nullptr) tmpi_enter_image(functions[i], argc, argv, envp);  // there may be holes
  }
}

// While a set's constructors or destructors run, which the runtime calls in the middle of something. Who leaves them by
// longjmp or exit leaves the mark.
class Constructing {
 public:
  Constructing(const ImageSet& set, int index) noexcept : state_(rank_state(set.rank(index))) {
    if (state_ != nullptr) ++state_->constructing;
  }
  ~Constructing() {
    if (state_ != nullptr) --state_->constructing;
  }
  Constructing(const Constructing&) = delete;
  Constructing& operator=(const Constructing&) = delete;

 private:
  RankState* const state_;
};

}  // namespace

EntryPoints find_entry_points(const ImageSet& set) {
  EntryPoints points;
  const Object& program = *set.objects().front();
  const ElfFile& file = *program.file;
  points.start = file.header().e_entry == 0 ? 0 : program.at(file.header().e_entry);
  points.main = file.note().main != 0 ? program.at(file.note().main) : find_code(program, "main");
  for (const auto& object : set.objects()) {
    const std::uint64_t shim_start = find_code(*object, "tmpi_shim_start");
    if (shim_start == 0) continue;
    points.shim_start = shim_start;
    points.shim_exit = find_code(*object, "exit");
    points.image_rank = find_data(*object, "tmpi_image_rank");
  }
  // A COPY relocation may have moved environ into the program.
  for (const auto& object : set.objects()) {
    if (points.environ == 0 && points.shim_start != 0) points.environ = find_data(*object, "environ");
  }
  return points;
}

void run_constructors(const ImageSet& set, int index, int argc, char** argv, char** envp) {
  const Constructing constructing(set, index);
  const Object& program = *set.objects().front();
  const DynamicInfo& first = program.file->dynamic();
  if (first.preinit_array_size != 0) {
    call_array(set, index, program, first.preinit_array, first.preinit_array_size, argc, argv, envp);
  }
  for (const Object* object : set.initialisation_order()) {
    const DynamicInfo& dynamic = object->file->dynamic();
    if (dynamic.init != 0) tmpi_enter_image(at<Main>(set, index, object->at(dynamic.init)), argc, argv, envp);
    if (dynamic.init_array_size != 0) {
      call_array(set, index, *object, dynamic.init_array, dynamic.init_array_size, argc, argv, envp);
    }
  }
}

void run_destructors(const ImageSet& set, int index) {
  const Constructing constructing(set, index);
  const std::vector<const Object*>& order = set.initialisation_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Object& object = **it;
    const DynamicInfo& dynamic = object.file->dynamic();
    if (dynamic.fini_array_size != 0) {
      auto* functions = at<Main*>(set, index, object.at(dynamic.fini_array));
      for (std::size_t i = dynamic.fini_array_size / sizeof(Main); i-- > 0;)
        tmpi_enter_image(functions[i], 0, nullptr, nullptr);
    }
    if (dynamic.fini != 0)
      tmpi_enter_image(at<Main>(set, index, object.at(dynamic.fini)), 0, nullptr, nullptr);
  }
}

// With a thread pointer of its own the rank is a thread to libc, which jumps to where that thread has begun when it is
// cancelled. That is here: the rank leaves its program, as by pthread_exit.
extern "C" int tmpi_set_place(void* place, int with_signal_mask) __asm__("__sigsetjmp")
    __attribute__((returns_twice, nothrow));
extern "C" void tmpi_register_place(void* place) __asm__("__pthread_register_cancel");
struct CancelPlace {
  alignas(16) std::byte buffer[256];  // __pthread_unwind_buf_t: 104 bytes
};

void run_rank(const ImageSet& set, int index, const EntryPoints& points,
              const std::vector<std::string>& arguments, std::vector<std::string> environment) noexcept {
  const RankState* const own = rank_state(set.rank(index));
  if (own != nullptr && own->thread_pointer != nullptr) {
    run_with(own->thread_pointer->pointer());
    auto* const place = static_cast<CancelPlace*>(alloca(sizeof(CancelPlace)));
    if (tmpi_set_place(place, 0) != 0) leave(0);
    tmpi_register_place(place);
  } else if (set.has_static_tls()) {
    stay_on_thread(set.rank(index));
  }
  initialise_static_tls(set, index);
  const StackBlock block = prepare(arguments, environment, nullptr);
  const std::size_t size = block.words * sizeof(std::uint64_t) + block.bytes;
  auto* words =
      reinterpret_cast<std::uint64_t*>((reinterpret_cast<std::uint64_t>(alloca(size + 16)) + 15) & ~15ULL);
  prepare(arguments, environment, words);
  std::vector<std::string>().swap(environment);
  const int argc = static_cast<int>(arguments.size());
  auto** argv = reinterpret_cast<char**>(words + 1);
  char** envp = argv + argc + 1;
  if (points.shim_start != 0) at<void (*)(int, char**)>(set, index, points.shim_start)(set.rank(index), envp);
  if (points.environ != 0) envp = *at<char***>(set, index, points.environ);
  if (RankState* state = rank_state(set.rank(index))) {
    state->argc = argc;
    state->argv = argv;
  }
  run_constructors(set, index, argc, argv, envp);
  if (points.main != 0) leave(tmpi_enter_image(at<Main>(set, index, points.main), argc, argv, envp));
  // The program's own _start: it will call __libc_start_main, which is ours (below).
  __asm__ volatile(
      "mov %0, %%rsp\n\t"
      "xor %%edx, %%edx\n\t"
      "xor %%ebp, %%ebp\n\t"
      "jmp *%1"
      :
      : "r"(words), "r"(set.base(index) + points.start)
      : "memory");
  __builtin_unreachable();
}

extern "C" int tmpi_libc_start_main(Main main, int argc, char** argv) {
  const ImageLocation where = locate(reinterpret_cast<const void*>(main));
  char** envp = argv + argc + 1;
  if (where) {
    const EntryPoints points = find_entry_points(*where.set);
    if (points.environ != 0) envp = *at<char***>(*where.set, where.index, points.environ);
  }
  leave(tmpi_enter_image(main, argc, argv, envp));
}

/// Called by the shim's exit(), after the rank's atexit handlers: the destructors of everything that was
/// loaded, last first.
extern "C" __attribute__((visibility("default"))) void tmpi_image_fini(int rank) {
  const RankState* state = rank_state(rank);
  if (state == nullptr) return;
  for (const OpenedLibrary* library = state->opened.last(); library != nullptr; library = library->previous) {
    if (library->initialised) run_destructors(*library->set, state->index);
  }
  run_destructors(*state->set, state->index);
}

}  // namespace tmpi::privatize
