#include "privatize/loader.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "privatize/debugger.hpp"
#include "privatize/dl_scope.hpp"
#include "privatize/elf_file.hpp"
#include "privatize/entry.hpp"
#include "privatize/link_maps.hpp"
#include "privatize/own_limits.hpp"
#include "privatize/rank_slots.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/set_builder.hpp"

namespace tmpi::privatize {
namespace {

class LoadedGroup final : public Group {
 public:
  explicit LoadedGroup(std::unique_ptr<ImageSet> set)
      : set_(std::move(set)),
        points_(find_entry_points(*set_)),
        traced_from_start_(being_traced()),
        looks_at_link_maps_(looks_at_link_maps(*set_)) {
    expect_ranks(set_->expected());
  }

  ~LoadedGroup() override {
    for (int i = 0; i < set_->images(); ++i) destroy_rank_state(set_->rank(i));
    expect_ranks(-set_->expected());
    forget_opened(*set_);
  }

  bool needs_exec_stack() const override { return set_->needs_exec_stack(); }

  std::vector<std::string> replacements() const override {
    std::vector<std::string> sentences;
    for (const ReplacedLibrary& library : set_->replaced()) {
      sentences.push_back(set_->objects().front()->file->path() + ": needs " + library.name + ", which is " +
                          library.path + "; tmpi's own takes its place");
    }
    return sentences;
  }

  bool refers_to(std::string_view symbol) const override {
    return std::ranges::any_of(set_->objects(), [&](const auto& object) { return refers(*object, symbol); });
  }
  bool main_refers_to(std::string_view symbol) const override {
    return refers(*set_->objects().front(), symbol);
  }

  bool own_code_refers_to(std::string_view symbol) const override {
    return main_refers_to(symbol) || std::ranges::any_of(set_->objects(), [&](const auto& object) {
             return !comes_with_system(object->file->path()) && refers(*object, symbol);
           });
  }

  Result<void> map_image(int index, int rank) override {
    if (index < 0 || index >= set_->images())
      return Failure{"image " + std::to_string(index) + " was not reserved"};
    if (auto r = set_->map(index, rank); !r) return r;
    if (RankSlots* const slots = RankSlots::get(); slots != nullptr && !slots->prepare(rank))
      return Failure{"cannot map the heap of rank " + std::to_string(rank) + ": " + std::strerror(errno)};
    if (points_.image_rank != 0)
      std::memcpy(reinterpret_cast<void*>(set_->base(index) + points_.image_rank), &rank, sizeof rank);
    RankState* const state = create_rank_state(rank, *set_, index);
    if (state == nullptr)
      return Failure{"no memory for what the loader keeps of rank " + std::to_string(rank)};
    if (set_->needs_thread_pointer()) {
      auto own = OwnThreadPointer::create();
      if (!own) return Failure{set_->objects().front()->file->path() + ": " + own.message()};
      state->thread_pointer = *std::move(own);
    }
    announce_image(*set_, index);
    if (looks_at_link_maps_) link_map_of(*state, *set_->objects().front());
    // A debugger that was there from the start follows every image; one that attached meanwhile gets those it
    // has missed.
    const bool last = mapped_.fetch_add(1, std::memory_order_relaxed) + 1 == set_->expected();
    if (last || traced_from_start_) publish_to_debugger();
    return {};
  }

  void run_image(int index, const std::vector<std::string>& arguments,
                 std::vector<std::string> environment) override {
    run_rank(*set_, index, points_, arguments, std::move(environment));
  }

 private:
  /// The distribution's, and the runtime's own.
  static bool comes_with_system(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return path.starts_with("/lib") || path.starts_with("/usr/lib") || name.starts_with("libtmpi");
  }
  static bool refers(const Object& object, std::string_view symbol) {
    const SymbolTable& symbols = object.file->symbols();
    for (std::uint32_t i = 1; i < symbols.count(); ++i) {
      const Elf64_Sym& entry = symbols.symbol(i);
      if (entry.st_shndx == SHN_UNDEF && symbol == symbols.name(entry)) return true;
    }
    return false;
  }

  std::unique_ptr<ImageSet> set_;
  EntryPoints points_;
  const bool traced_from_start_;
  const bool looks_at_link_maps_;
  std::atomic<int> mapped_{0};
};

}  // namespace

bool is_rank_program(const std::string& path) {
  return bool(ElfFile::open(path, ElfFile::Role::kProgram));
}

Result<std::unique_ptr<Group>> Group::load(const GroupOptions& options) {
  if (auto r = check_choices(options.libraries); !r) return r.failure();
  SetRequest request;
  request.path = options.program;
  request.shim = options.shim;
  request.preload = options.preload;
  request.needed = options.needed;
  request.images = RankSlots::get() != nullptr ? RankSlots::get()->ranks() : options.images;
  request.expected = options.images;
  request.libraries = options.libraries;
  request.stands_for = options.stands_for;
  auto set = build_set(request);
  if (!set) return set.failure();
  return std::unique_ptr<Group>(std::make_unique<LoadedGroup>(std::move(*set)));
}

}  // namespace tmpi::privatize
