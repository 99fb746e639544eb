#include "privatize/relocation.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "privatize/machine.hpp"
#include "privatize/static_tls_pool.hpp"
#include "privatize/tls.hpp"

namespace tmpi::privatize {
namespace {

using Kind = Target::Kind;

Failure undefined_symbols(const ImageSet& set, const std::set<std::string>& names) {
  std::string text = set.objects().front()->file->path() + ": " + std::to_string(names.size()) +
                     " undefined symbol" + (names.size() == 1 ? "" : "s") + ":";
  for (const std::string& name : names) text += "\n    " + name;
  return Failure{text +
                 "\n  Relink with the libraries that define them (tmpi has all functions of MPI 5.0; "
                 "what else begins with MPIX_ is another MPI's)."};
}

Failure damaged(const Object& object, const char* what) {
  return Failure{object.file->path() + ": is damaged: " + what + "; link it again"};
}

/// A relocation without a symbol has number 0, which every table of symbols has; a file may have no table.
bool refers_to_a_symbol(const Object& object, const Elf64_Rela& rela) {
  const auto symbol = static_cast<std::uint32_t>(ELF64_R_SYM(rela.r_info));
  return symbol == 0 || object.file->symbols().has(symbol);
}

bool is_local(const Object& object, std::uint32_t symbol) {
  return symbol == 0 || ELF64_ST_BIND(object.file->symbols().symbol(symbol).st_info) == STB_LOCAL;
}

std::uint64_t system_module_id(const SystemModule& module) {
  std::size_t id = 0;
  dlinfo(module.map, RTLD_DI_TLS_MODID, &id);
  return id;
}

}  // namespace

template <class Function>
void Relocator::for_each_rela(const Object& object, Function fn) {
  const DynamicInfo& dynamic = object.file->dynamic();
  auto table = [&](std::uint64_t at, std::uint64_t size) {
    for (const Elf64_Rela& rela : records_in<Elf64_Rela>(part_of(object.file->bytes_at(at), 0, size)))
      fn(rela);
  };
  if (dynamic.rela_size != 0) table(dynamic.rela, dynamic.rela_size);
  if (dynamic.plt_rela_size != 0) table(dynamic.plt_rela, dynamic.plt_rela_size);
}

void Relocator::find_static_tls() {
  Object& program = *set_.objects().front();
  if (program.file->has_placed_tls()) {
    program.tls.is_static = program.tls.at_end = true;
    set_.need_thread_pointer();
  }
  for (auto& object : set_.objects()) {
    for_each_rela(*object, [&](const Elf64_Rela& rela) {
      if (ELF64_R_TYPE(rela.r_info) != relocation::kTlsFromPointer) return;
      if (!refers_to_a_symbol(*object, rela)) return;  // relocate() will say so
      const Target target = tls_target(*object, ELF64_R_SYM(rela.r_info));
      if (target.object == nullptr) return;
      for (auto& candidate : set_.objects()) {
        if (candidate.get() == target.object) candidate->tls.is_static = true;
      }
    });
  }
}

Result<void> Relocator::relocate() {
  for (auto& object : set_.objects()) {
    if (auto r = relocate_object(*object); !r) return r;
  }
  if (!resolver_.undefined().empty()) return undefined_symbols(set_, resolver_.undefined());
  // Copies come last: their source must have been relocated.
  std::sort(copies_.begin(), copies_.end(),
            [](const Copy& a, const Copy& b) { return a.destination < b.destination; });
  for (std::size_t i = 1; i < copies_.size(); ++i) {
    if (copies_[i].destination - copies_[i - 1].destination < copies_[i - 1].size)
      return damaged(*copies_[i].object, "two variables are to be copied to the same place");
  }
  for (const Copy& one : copies_) {
    if (auto r = copy(one); !r) return r;
  }
  set_.fill_tls_block();
  auto& own = set_.fixups().own;
  std::sort(own.begin(), own.end());
  return {};
}

Result<void> Relocator::relocate_object(const Object& object) {
  if (auto r = apply_relr(object); !r) return r;
  Result<void> result;
  for_each_rela(object, [&](const Elf64_Rela& rela) {
    if (result) result = relocate_one(object, rela);
  });
  return result;
}

Result<void> Relocator::apply_relr(const Object& object) {
  const DynamicInfo& dynamic = object.file->dynamic();
  const auto entries =
      records_in<std::uint64_t>(part_of(object.file->bytes_at(dynamic.relr), 0, dynamic.relr_size));
  auto relative = [&](std::uint64_t vaddr) -> Result<void> {
    const std::uint64_t slot = object.at(vaddr);
    std::uint64_t value = 0;
    if (const std::byte* at = set_.template_at(slot, sizeof value)) std::memcpy(&value, at, sizeof value);
    fix(&set_, slot);
    return store(slot, value + object.offset);
  };
  std::uint64_t next = 0;
  for (const std::uint64_t entry : entries) {
    if ((entry & 1) == 0) {
      if (auto r = relative(entry); !r) return r;
      next = entry + 8;
      continue;
    }
    for (int bit = 0; bit < 63; ++bit) {
      if ((entry >> (bit + 1) & 1) == 0) continue;
      if (auto r = relative(next + static_cast<std::uint64_t>(bit) * 8); !r) return r;
    }
    next += 63 * 8;
  }
  return {};
}

Result<void> Relocator::relocate_one(const Object& object, const Elf64_Rela& rela) {
  const std::uint64_t slot = object.at(rela.r_offset);
  const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(rela.r_info));
  const auto symbol = static_cast<std::uint32_t>(ELF64_R_SYM(rela.r_info));
  if (!refers_to_a_symbol(object, rela))
    return damaged(object, "a relocation is for a symbol that is not there");
  switch (type) {
    case relocation::kNone:
      return {};
    case relocation::kRelative:
    case relocation::kRelative64:
      fix(&set_, slot);
      return store(slot, object.at(static_cast<std::uint64_t>(rela.r_addend)));
    case relocation::kIndirect:
      return indirect(slot, object, static_cast<std::uint64_t>(rela.r_addend));
    default:
      break;
  }
  if (symbol == 0 && !object.file->symbols().has(0)) return damaged(object, "it has no table of symbols");
  switch (type) {
    case relocation::kAddress:
      return pointer(slot, object, symbol, rela.r_addend, false);
    case relocation::kGlobalData:
      return pointer(slot, object, symbol, 0, false);
    case relocation::kJumpSlot:
      return pointer(slot, object, symbol, 0, true);
    case relocation::kTlsModule:
      return tls_module(slot, tls_target(object, symbol), is_local(object, symbol));
    case relocation::kTlsOffset:
      return tls_offset(slot, tls_target(object, symbol), rela.r_addend);
    case relocation::kTlsFromPointer:
      return thread_pointer_offset(slot, tls_target(object, symbol), rela.r_addend);
    case relocation::kTlsDescriptor:
      return tls_descriptor(slot, tls_target(object, symbol), rela.r_addend);
    case relocation::kSize: {
      const Target target = resolver_.resolve(object, symbol, true);
      return store(slot, target.size + static_cast<std::uint64_t>(rela.r_addend));
    }
    case relocation::kCopy:
      copies_.push_back({&object, slot, resolver_.resolve_beyond(object, symbol),
                         object.file->symbols().symbol(symbol).st_size});
      return {};
    default:
      return Failure{object.file->path() + ": relocation type " + std::to_string(type) +
                     " is not possible in shared code; compile everything in it with -fPIC"};
  }
}

Failure Relocator::outside() const {
  return Failure{set_.objects().front()->file->path() +
                 ": a relocation lies outside of the writable data; compile everything with -fPIC"};
}

Result<void> Relocator::store(std::uint64_t slot, std::uint64_t value) {
  std::byte* at = set_.template_at(slot, sizeof value);
  if (at == nullptr) return outside();
  std::memcpy(at, &value, sizeof value);
  return {};
}

Result<void> Relocator::pointer(std::uint64_t slot, const Object& object, std::uint32_t symbol,
                                std::int64_t addend, bool call) {
  const Target target = resolver_.resolve(object, symbol, !call);
  const auto plus = static_cast<std::uint64_t>(addend);
  switch (target.kind) {
    case Kind::kUndefined:
      return {};  // reported with all others at the end
    case Kind::kNull:
      return store(slot, plus);
    case Kind::kAbsolute:
      return store(slot, target.value + plus);
    case Kind::kImage:
      fix(target.object->set, slot);
      return store(slot, target.object->at(target.value) + plus);
    case Kind::kImageIfunc:
      return indirect(slot, *target.object, target.value);
    default:
      break;
  }
  return Failure{object.file->path() + ": refers to the thread-local variable " +
                 object.file->symbols().reference(symbol).name +
                 " as if it were an ordinary one; recompile the parts that disagree"};
}

Result<void> Relocator::indirect(std::uint64_t slot, const Object& owner, std::uint64_t resolver) {
  if (!owner.file->in_memory(resolver, 1, PF_X))
    return damaged(owner, "the resolver of an indirect function lies outside of its code");
  if (auto r = store(slot, 0); !r) return r;  // so that the answer can be stored later
  indirect_.push_back({slot, owner.at(resolver), owner.set});
  return {};
}

Target Relocator::tls_target(const Object& object, std::uint32_t symbol) {
  if (symbol == 0) return {Kind::kImageTls, 0, 0, &object, nullptr};
  if (is_local(object,
               symbol)) {  // gold names the section .tdata, whose symbol is not even marked thread-local
    return {Kind::kImageTls, object.file->symbols().symbol(symbol).st_value, 0, &object, nullptr};
  }
  return resolver_.resolve(object, symbol, true);
}

Result<void> Relocator::tls_module(std::uint64_t slot, const Target& target, bool alone) {
  if (target.kind == Kind::kSystemTls) return store(slot, system_module_id(*target.module));
  if (target.kind != Kind::kImageTls) return store(slot, 0);
  if (!target.object->tls.is_static) {
    // The module word is the address of the object's thread-local block itself: __tls_get_addr is an
    // addition.
    fix(target.object->set, slot);
    return store(slot, target.object->tls.offset);
  }
  constexpr std::uint64_t kExecutable = 1;
  const auto pool = StaticTlsPool::module_offset();
  if (!pool) return pool.failure();
  if (set_.template_at(slot, 2 * sizeof kExecutable) == nullptr) return outside();
  set_.fixups().pool.push_back(slot + 8);
  if (!alone) return store(slot, kExecutable);  // the DTPOFF64 relocation of the pair stores the second word
  std::uint64_t second = 0;
  if (const std::byte* at = set_.template_at(slot + 8, sizeof second))
    std::memcpy(&second, at, sizeof second);
  if (auto r = store(slot + 8, second + *pool + target.object->tls.offset); !r) return r;
  return store(slot, kExecutable);
}

Result<void> Relocator::tls_offset(std::uint64_t slot, const Target& target, std::int64_t addend) {
  std::uint64_t value = target.value + static_cast<std::uint64_t>(addend);
  if (target.kind == Kind::kImageTls && target.object->tls.is_static) {
    const auto pool = StaticTlsPool::module_offset();
    if (!pool) return pool.failure();
    value += *pool + target.object->tls.offset;
  }
  return store(slot, value);
}

Result<void> Relocator::thread_pointer_offset(std::uint64_t slot, const Target& target, std::int64_t addend) {
  const std::uint64_t value = target.value + static_cast<std::uint64_t>(addend);
  if (target.kind == Kind::kImageTls) {
    set_.fixups().pool.push_back(slot);
    return store(slot, value + static_cast<std::uint64_t>(StaticTlsPool::thread_pointer_offset()) +
                           target.object->tls.offset);
  }
  if (target.kind != Kind::kSystemTls) return store(slot, 0);
  const auto offset = system_thread_pointer_offset(target.module->map);
  if (!offset) return offset.failure();
  return store(slot, value + static_cast<std::uint64_t>(*offset));
}

Result<void> Relocator::tls_descriptor(std::uint64_t slot, const Target& target, std::int64_t addend) {
  const std::uint64_t value = target.value + static_cast<std::uint64_t>(addend);
  const TlsDescriptorFunctions functions = tls_descriptor_functions();
  if (target.kind == Kind::kSystemTls) {
    // One pair per descriptor, for the life of the process, as the dynamic linker does.
    auto* pair = new TlsIndex{system_module_id(*target.module), value};
    if (auto r = store(slot, functions.system); !r) return r;
    return store(slot + 8, reinterpret_cast<std::uint64_t>(pair));
  }
  if (target.kind != Kind::kImageTls) {
    // Weak and undefined: the address must come out as the addend.
    if (auto r = store(slot, functions.image); !r) return r;
    return store(slot + 8, static_cast<std::uint64_t>(addend));
  }
  const std::uint64_t offset = target.object->tls.offset + value;
  if (target.object->tls.is_static) {
    set_.fixups().pool.push_back(slot + 8);
    if (auto r = store(slot, functions.constant); !r) return r;
    return store(slot + 8, static_cast<std::uint64_t>(StaticTlsPool::thread_pointer_offset()) + offset);
  }
  fix(target.object->set, slot + 8);
  if (auto r = store(slot, functions.image); !r) return r;
  return store(slot + 8, offset);
}

Result<void> Relocator::copy(const Copy& copy) {
  const Target& source = copy.source;
  const std::uint64_t size = source.size == 0 ? copy.size : std::min(copy.size, source.size);
  if (size == 0) return {};
  std::byte* destination = set_.template_at(copy.destination, size);
  if (destination == nullptr)
    return damaged(*copy.object, "the place for a copy of a variable lies outside of its data");
  if (source.kind == Kind::kAbsolute && source.object == nullptr) {
    if (source.size == 0) return damaged(*copy.object, "it wants a copy of what is a function of the system");
    std::memcpy(destination, reinterpret_cast<const void*>(source.value), size);
    return {};
  }
  if (source.kind != Kind::kImage)
    return damaged(*copy.object, "it wants a copy of a variable from what is no variable");
  ImageSet& owner = *source.object->set;
  const std::uint64_t from = source.object->at(source.value);
  const ElfBytes constant = part_of(source.object->file->bytes_at(source.value), 0, size);
  if (const std::byte* bytes = owner.template_at(from, size)) {
    std::memmove(destination, bytes, size);
  } else if (!constant.empty()) {
    std::memcpy(destination, constant.data(), size);
  } else if (!source.object->file->in_memory(source.value, size)) {
    return damaged(*source.object, "a variable that is to be copied lies outside of its segments");
  }
  auto& slots = owner.fixups().of(&owner, &owner);
  const std::size_t count = slots.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (slots[i] >= from && slots[i] - from < size && size - (slots[i] - from) >= sizeof(std::uint64_t))
      fix(&owner, slots[i] - from + copy.destination);
  }
  return {};
}

void Relocator::resolve_indirect_functions(int index) {
  const std::uint64_t base = set_.base(index);
  for (const Indirect& one : indirect_) {
    const std::uint64_t resolver = one.owner->base(index) + one.resolver;
    const std::uint64_t address = reinterpret_cast<std::uint64_t (*)()>(resolver)();
    const bool inside = address >= base && address < base + set_.extent();
    // Later resolvers may call through it.
    std::memcpy(reinterpret_cast<void*>(base + one.slot), &address, sizeof address);
    if (inside) fix(&set_, one.slot);
    // store() cannot fail: it has been tried (indirect()).
    if (auto r = store(one.slot, inside ? address - base : address); !r) continue;
  }
}

}  // namespace tmpi::privatize
