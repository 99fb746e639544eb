// What a program adds to MPI's objects and to its errors: words and functions of its own.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "mpi/rank/attributes.hpp"
#include "mpi/rank/user_errors.hpp"
#include "mpi/save/objects.hpp"

namespace tmpi::mpi {
namespace {

void save_keyval(Packer& to, const Keyval& keyval) {
  to.value(keyval.id);
  to.value(keyval.carrier);
  to.value(reinterpret_cast<std::uintptr_t>(keyval.copy));
  to.value(reinterpret_cast<std::uintptr_t>(keyval.destroy));
  to.value(reinterpret_cast<std::uintptr_t>(keyval.extra_state));
}

Keyval keyval(Unpacker& from) {
  Keyval keyval;
  keyval.id = from.value<int>();
  keyval.carrier = from.value<Carrier>();
  keyval.copy = reinterpret_cast<Keyval::Function>(from.value<std::uintptr_t>());
  keyval.destroy = reinterpret_cast<Keyval::Function>(from.value<std::uintptr_t>());
  keyval.extra_state = reinterpret_cast<void*>(from.value<std::uintptr_t>());
  return keyval;
}

}  // namespace

void save_attributes(Packer& to, const std::unique_ptr<Attributes>& attributes) {
  to.value(attributes == nullptr ? std::size_t{0} : attributes->entries.size());
  if (attributes == nullptr) return;
  for (const auto& [key, value] : attributes->entries) {
    save_keyval(to, *key);
    to.value(reinterpret_cast<std::uintptr_t>(value));
  }
}

void take_attributes(Unpacker& from, Rank& rank, std::unique_ptr<Attributes>& attributes) {
  auto count = from.value<std::size_t>();
  if (count > 0) attributes = std::make_unique<Attributes>();
  for (; count > 0; --count) {
    auto key = keyvals(rank).revive(keyval(from), true);
    attributes->entries.push_back({std::move(key), reinterpret_cast<void*>(from.value<std::uintptr_t>())});
  }
}

void save_keyvals(Packer& to, const Rank& rank) {
  to.value(rank.keyvals != nullptr);
  if (rank.keyvals == nullptr) return;
  to.value(rank.keyvals->next());
  to.value(rank.keyvals->keys().size());
  for (const auto& [id, key] : rank.keyvals->keys()) save_keyval(to, *key);
}

void take_keyvals(Unpacker& from, Rank& rank) {
  if (!from.value<bool>()) return;
  keyvals(rank).go_on_at(from.value<int>());
  for (auto count = from.value<std::size_t>(); count > 0; --count)
    (void)keyvals(rank).revive(keyval(from), false);
}

void save_attributes_of_predefined(Packer& to, const Rank& rank) {
  if (rank.keyvals != nullptr) {
    for (const auto& [type, attributes] : rank.keyvals->of_predefined()) {
      to.value(true);
      to.value(reinterpret_cast<std::uintptr_t>(type));
      save_attributes(to, attributes);
    }
  }
  to.value(false);
}

void take_attributes_of_predefined(Unpacker& from, Rank& rank) {
  while (from.value<bool>()) {
    MPI_Datatype const type = reinterpret_cast<MPI_Datatype>(from.value<std::uintptr_t>());
    take_attributes(from, rank, keyvals(rank).of_predefined(type));
  }
}

void save_user_errors(Packer& to, const Rank& rank) {
  to.value(rank.user_errors != nullptr);
  if (rank.user_errors == nullptr) return;
  to.value(*rank.user_errors->last_used());
  to.value(rank.user_errors->codes().size());
  for (const auto& [code, entry] : rank.user_errors->codes()) {
    to.value(code);
    to.value(entry.error_class);
    to.value(entry.text.has_value());
    to.text(entry.text.value_or(""));
  }
}

void take_user_errors(Unpacker& from, Rank& rank) {
  if (!from.value<bool>()) return;
  UserErrors& errors = user_errors(rank);
  errors.go_on_behind(from.value<int>());
  for (auto count = from.value<std::size_t>(); count > 0; --count) {
    const int code = from.value<int>(), error_class = from.value<int>();
    const bool has_text = from.value<bool>();
    std::string text = from.text();
    errors.revive(code, {error_class, has_text ? std::optional(std::move(text)) : std::nullopt});
  }
}

}  // namespace tmpi::mpi
