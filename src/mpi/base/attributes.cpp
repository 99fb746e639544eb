#include "mpi/base/attributes.hpp"

#include <algorithm>

#include "mpi/base/no_memory.hpp"

namespace tmpi::mpi {
namespace {

Err bad_key(int id) {
  if (id == MPI_KEYVAL_INVALID)
    return fail(MPI_ERR_KEYVAL, "the attribute key is MPI_KEYVAL_INVALID: never created, or freed");
  return fail(MPI_ERR_KEYVAL,
              "{} is no attribute key that the program has created for this kind of object, or it is freed",
              id);
}

// A callback's verdict as an error of the call that invoked it.
Err verdict(int code, const char* callback, const Keyval& keyval) {
  if (code == MPI_SUCCESS) return kOk;
  explain(fmt::format("the {} callback of attribute key {} returned {}", callback, keyval.id, code));
  return Err(code);
}

const auto kNullCopy = reinterpret_cast<Keyval::Function>(MPI_COMM_NULL_COPY_FN);
const auto kDup = reinterpret_cast<Keyval::Function>(MPI_COMM_DUP_FN);
const auto kNullDelete = reinterpret_cast<Keyval::Function>(MPI_COMM_NULL_DELETE_FN);

template <class Callback, class Handle>
int call_copy_as(const Keyval& key, void* handle, void* in, void** out, int* keep) {
  return call_program("attribute copy function", [&] {
    return reinterpret_cast<Callback*>(key.copy)(static_cast<Handle>(handle), key.id, key.extra_state, in,
                                                 out, keep);
  });
}

int call_copy(const Keyval& key, void* handle, void* in, void** out, int* keep) {
  switch (key.carrier) {
    case Carrier::kComm:
      return call_copy_as<MPI_Comm_copy_attr_function, MPI_Comm>(key, handle, in, out, keep);
    case Carrier::kType:
      return call_copy_as<MPI_Type_copy_attr_function, MPI_Datatype>(key, handle, in, out, keep);
    case Carrier::kWin:
      return call_copy_as<MPI_Win_copy_attr_function, MPI_Win>(key, handle, in, out, keep);
  }
  return MPI_ERR_INTERN;
}

template <class Callback, class Handle>
int call_delete_as(const Keyval& key, void* handle, void* value) {
  return call_program("attribute delete function", [&] {
    return reinterpret_cast<Callback*>(key.destroy)(static_cast<Handle>(handle), key.id, value,
                                                    key.extra_state);
  });
}

int call_delete(const Keyval& key, void* handle, void* value) {
  if (key.destroy == kNullDelete) return MPI_SUCCESS;
  switch (key.carrier) {
    case Carrier::kComm:
      return call_delete_as<MPI_Comm_delete_attr_function, MPI_Comm>(key, handle, value);
    case Carrier::kType:
      return call_delete_as<MPI_Type_delete_attr_function, MPI_Datatype>(key, handle, value);
    case Carrier::kWin:
      return call_delete_as<MPI_Win_delete_attr_function, MPI_Win>(key, handle, value);
  }
  return MPI_ERR_INTERN;
}

Attributes& attributes_of(const Bearer& bearer) {
  if (bearer.attributes == nullptr) bearer.attributes = std::make_unique<Attributes>();
  return *bearer.attributes;
}

// Takes the attribute out before its callback runs, which may look at the object, and puts it back if the
// callback refuses.
Err remove_at(const Bearer& bearer, std::size_t index) {
  auto& entries = bearer.attributes->entries;
  const auto at = static_cast<std::ptrdiff_t>(index);
  const Attributes::Entry entry = entries[index];
  entries.erase(entries.begin() + at);
  Err error = verdict(call_delete(*entry.keyval, bearer.handle, entry.value), "delete", *entry.keyval);
  if (error) {
    auto& now = attributes_of(bearer).entries;
    now.insert(now.begin() + std::min(at, std::ssize(now)), entry);
  }
  return error;
}

Err find_key(const Bearer& bearer, int id, std::shared_ptr<const Keyval>& keyval) {
  return bearer.keyvals != nullptr ? bearer.keyvals->find(id, bearer.carrier, keyval) : bad_key(id);
}

std::size_t index_of(const Bearer& bearer, const Attributes::Entry* entry) {
  return static_cast<std::size_t>(entry - bearer.attributes->entries.data());
}

}  // namespace

Keyvals::Keyvals() = default;
Keyvals::~Keyvals() = default;

int Keyvals::create(Keyval keyval) {
  keyval.id = next_++;
  keys_.emplace(keyval.id, std::make_shared<const Keyval>(keyval));
  return keyval.id;
}

Err Keyvals::find(int id, Carrier carrier, std::shared_ptr<const Keyval>& keyval) const {
  const auto found = keys_.find(id);
  if (found == keys_.end() || found->second->carrier != carrier) return bad_key(id);
  keyval = found->second;
  return kOk;
}

Err Keyvals::free(int id, Carrier carrier) {
  std::erase_if(freed_, [](const auto& key) { return key.second.expired(); });
  if (const auto found = freed_.find(id); found != freed_.end())
    if (const auto key = found->second.lock(); key != nullptr && key->carrier == carrier) return kOk;
  std::shared_ptr<const Keyval> keyval;
  TMPI_TRY(find(id, carrier, keyval));
  freed_.emplace(id, keyval);
  keys_.erase(id);
  return kOk;
}

std::shared_ptr<const Keyval> Keyvals::revive(const Keyval& keyval, bool freed) {
  if (const auto found = keys_.find(keyval.id); found != keys_.end()) return found->second;
  std::shared_ptr<const Keyval> key = freed_[keyval.id].lock();
  if (key == nullptr) key = std::make_shared<const Keyval>(keyval);
  if (freed) {
    freed_[keyval.id] = key;
  } else {
    keys_[keyval.id] = key;
  }
  return key;
}

std::unique_ptr<Attributes>& Keyvals::of_predefined(MPI_Datatype type) {
  return predefined_types_[type];
}

const Attributes::Entry* Attributes::find(int keyval) const noexcept {
  const auto found = std::ranges::find(entries, keyval, [](const Entry& entry) { return entry.keyval->id; });
  return found == entries.end() ? nullptr : &*found;
}

// A key that has been freed may still be used where it has an attribute (MPI report, 7.7.2).
Err get_attribute(const Bearer& bearer, int keyval, const Attributes::Entry*& found) {
  found = bearer.attributes != nullptr ? bearer.attributes->find(keyval) : nullptr;
  if (found != nullptr) return kOk;
  std::shared_ptr<const Keyval> key;
  return find_key(bearer, keyval, key);
}

Err set_attribute(const Bearer& bearer, int keyval, void* value) {
  const Attributes::Entry* old;
  TMPI_TRY(get_attribute(bearer, keyval, old));
  std::shared_ptr<const Keyval> key;
  if (old != nullptr) {
    key = old->keyval;
    TMPI_TRY(remove_at(bearer, index_of(bearer, old)));
  } else {
    TMPI_TRY(find_key(bearer, keyval, key));
  }
  attributes_of(bearer).entries.push_back({std::move(key), value});
  return kOk;
}

Err delete_attribute(const Bearer& bearer, int keyval) {
  const Attributes::Entry* found;
  TMPI_TRY(get_attribute(bearer, keyval, found));
  if (found == nullptr)
    return fail(MPI_ERR_KEYVAL, "the object has no attribute with key {}: never set, or deleted", keyval);
  return remove_at(bearer, index_of(bearer, found));
}

Err copy_attributes(const Bearer& from, const Bearer& to) {
  if (from.attributes == nullptr) return kOk;
  const std::vector<Attributes::Entry> entries = from.attributes->entries;  // callbacks may change the object
  attributes_of(to).entries.reserve(entries.size());  // none that a callback has copied gets lost
  for (const auto& [keyval, value] : entries) {
    void* copied = value;
    if (keyval->copy == kNullCopy) continue;
    if (keyval->copy != kDup) {
      int keep = 0;
      TMPI_TRY(verdict(call_copy(*keyval, from.handle, value, &copied, &keep), "copy", *keyval));
      if (keep == 0) continue;
    }
    attributes_of(to).entries.push_back({keyval, copied});
  }
  return kOk;
}

Err delete_attributes(const Bearer& bearer) {
  while (bearer.attributes != nullptr && !bearer.attributes->entries.empty())
    TMPI_TRY(remove_at(bearer, bearer.attributes->entries.size() - 1));
  return kOk;
}

}  // namespace tmpi::mpi
