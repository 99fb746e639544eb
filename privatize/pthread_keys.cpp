// pthread keys per rank. libc has 1,024 for the whole process; 1,200 ranks with a private libgomp used them
// up. Here each rank has its own numbers, and its values follow the rank (its own flow of control) or the
// helper thread.
#include "privatize/pthread_keys.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/thread_context.hpp"

namespace tmpi::privatize {

struct KeyValues {
  struct Value {
    std::uint32_t generation = 0;  // of the key's definition: a deleted key's values vanish
    void* value = nullptr;
  };
  std::vector<Value> values;
};

namespace {

KeyValues*& values_of_caller(RankState& state) {
  return thread_context().helper ? thread_context().keys : state.key_values;
}

}  // namespace

extern "C" int tmpi_pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  RankState* state = rank_state(thread_context().rank);
  if (state == nullptr) return ::pthread_key_create(key, destructor);
  const std::lock_guard lock(state->lock);
  std::size_t i = 0;
  while (i < state->keys.size() && state->keys[i].used) ++i;
  if (i == PTHREAD_KEYS_MAX) return EAGAIN;
  if (i == state->keys.size()) {
    try {
      state->keys.emplace_back();
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
  }
  KeyDefinition& definition = state->keys[i];
  definition.used = true;
  ++definition.generation;
  definition.destructor = destructor;
  *key = static_cast<pthread_key_t>(i);
  return 0;
}

extern "C" int tmpi_pthread_key_delete(pthread_key_t key) {
  RankState* state = rank_state(thread_context().rank);
  if (state == nullptr) return ::pthread_key_delete(key);
  const std::lock_guard lock(state->lock);
  if (key >= state->keys.size() || !state->keys[key].used) return EINVAL;
  state->keys[key].used = false;
  return 0;
}

extern "C" void tmpi_tss_delete(pthread_key_t key) {
  tmpi_pthread_key_delete(key);
}

extern "C" void* tmpi_pthread_getspecific(pthread_key_t key) {
  RankState* state = rank_state(thread_context().rank);
  if (state == nullptr) return ::pthread_getspecific(key);
  const KeyValues* own = values_of_caller(*state);
  if (own == nullptr || key >= own->values.size()) return nullptr;
  const std::lock_guard lock(state->lock);
  const KeyDefinition& definition = state->keys[key];
  const KeyValues::Value& value = own->values[key];
  return definition.used && definition.generation == value.generation ? value.value : nullptr;
}

extern "C" int tmpi_pthread_setspecific(pthread_key_t key, const void* value) {
  RankState* state = rank_state(thread_context().rank);
  if (state == nullptr) return ::pthread_setspecific(key, value);
  std::uint32_t generation = 0;
  {
    const std::lock_guard lock(state->lock);
    if (key >= state->keys.size() || !state->keys[key].used) return EINVAL;
    generation = state->keys[key].generation;
  }
  KeyValues*& own = values_of_caller(*state);
  try {
    if (own == nullptr) own = new KeyValues;
    if (key >= own->values.size()) own->values.resize(key + 1);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  own->values[key] = {generation, const_cast<void*>(value)};
  return 0;
}

std::string own_key_values(const RankState& state) {
  if (state.key_values == nullptr) return {};
  const auto& values = state.key_values->values;
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]};
}

void set_own_key_values(RankState& state, const std::string& bytes) {
  if (bytes.empty()) return;
  if (state.key_values == nullptr) state.key_values = new KeyValues;
  auto& values = state.key_values->values;
  values.resize(bytes.size() / sizeof values[0]);
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof values[0]);
}

void delete_key_values(KeyValues* values) noexcept {
  delete values;
}

void end_helper_keys(RankState& state, KeyValues* values) {
  for (int round = 0; values != nullptr && round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    bool again = false;
    for (std::size_t i = 0; i < values->values.size(); ++i) {
      const KeyValues::Value value = values->values[i];
      values->values[i].value = nullptr;
      KeyDefinition definition;
      {
        const std::lock_guard lock(state.lock);
        definition = state.keys[i];
      }
      if (value.value == nullptr || !definition.used || definition.generation != value.generation) continue;
      if (definition.destructor == nullptr) continue;
      definition.destructor(value.value);
      again = true;
    }
    if (!again) break;
  }
  delete values;
}

}  // namespace tmpi::privatize
