// Resolves every relocation of an ImageSet once: what is the same for all images goes into the template, what
// depends on the image's place is recorded as a fix-up.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "privatize/image_set.hpp"
#include "privatize/resolver.hpp"

namespace tmpi::privatize {

class Relocator {
 public:
  Relocator(ImageSet& set, Resolver& resolver) : set_(set), resolver_(resolver) {}

  /// Finds the objects whose thread-local variables are used with the initial-exec model. Before
  /// set.lay_out().
  void find_static_tls();

  /// After set.lay_out(), before set.reserve(). Failure lists every undefined symbol.
  Result<void> relocate();

  /// Runs the resolvers of indirect functions in the set's image `index` (mapped for the purpose, not yet
  /// used by a rank) and completes template and fix-ups with the answers. True if there were any: the image
  /// must be unmapped again then.
  bool has_indirect_functions() const { return !indirect_.empty(); }
  void resolve_indirect_functions(int index);

 private:
  struct Indirect {
    std::uint64_t slot, resolver;  // offsets in the image
    const ImageSet* owner;
  };
  struct Copy {
    const Object* object;
    std::uint64_t destination;
    Target source;
    std::uint64_t size;
  };
  template <class Function>
  void for_each_rela(const Object& object, Function fn);
  Result<void> relocate_object(const Object& object);
  Result<void> relocate_one(const Object& object, const Elf64_Rela& rela);
  Result<void> apply_relr(const Object& object);
  Result<void> pointer(std::uint64_t slot, const Object& object, std::uint32_t symbol, std::int64_t addend,
                       bool call);
  /// `alone`: no relocation fills the second word of the pair, it holds a constant of the linker.
  Result<void> tls_module(std::uint64_t slot, const Target& target, bool alone);
  Result<void> tls_offset(std::uint64_t slot, const Target& target, std::int64_t addend);
  Result<void> thread_pointer_offset(std::uint64_t slot, const Target& target, std::int64_t addend);
  Result<void> tls_descriptor(std::uint64_t slot, const Target& target, std::int64_t addend);
  Target tls_target(const Object& object, std::uint32_t symbol);
  /// The slot will hold what `resolver`, a function at this address of the owner's file, returns.
  Result<void> indirect(std::uint64_t slot, const Object& owner, std::uint64_t resolver);
  Result<void> copy(const Copy& copy);
  Failure outside() const;
  Result<void> store(std::uint64_t slot, std::uint64_t value);
  void fix(const ImageSet* target, std::uint64_t slot) { set_.fixups().of(&set_, target).push_back(slot); }

  ImageSet& set_;
  Resolver& resolver_;
  std::vector<Indirect> indirect_;
  std::vector<Copy> copies_;
};

}  // namespace tmpi::privatize
