// argz and envz: lists of strings in one block, behind each of which stands a zero. The program frees the block, so it
// comes from the rank's own malloc (allocations.cpp).
#include <argz.h>
#include <envz.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

namespace tmpi::shim {
namespace {

/// Puts `size` bytes at `place` of the block, which grows; what was there moves up.
error_t insert_bytes(char** block, size_t* length, size_t place, const char* bytes, size_t size) noexcept {
  if (size == 0) return 0;
  char* const larger = static_cast<char*>(realloc(*block, *length + size));
  if (larger == nullptr) return ENOMEM;
  memmove(larger + place + size, larger + place, *length - place);
  memcpy(larger + place, bytes, size);
  *block = larger;
  *length += size;
  return 0;
}

void remove_bytes(char** block, size_t* length, size_t place, size_t size) noexcept {
  *length -= size;
  memmove(*block + place, *block + place + size, *length - place);
  if (*length != 0) return;
  free(*block);
  *block = nullptr;
}

bool has_name(const char* entry, const char* name, size_t length) noexcept {
  return strncmp(entry, name, length) == 0 && (entry[length] == '\0' || entry[length] == '=');
}

/// All of `from` in `text` become `to`. Null: no memory, or nothing was there (`count` stays).
char* replaced(const char* text, const char* from, const char* to, unsigned* count) noexcept {
  const size_t from_length = strlen(from), to_length = strlen(to);
  unsigned found = 0;
  for (const char* at = strstr(text, from); at != nullptr; at = strstr(at + from_length, from)) ++found;
  if (found == 0) return nullptr;
  char* const made = static_cast<char*>(malloc(strlen(text) + found * to_length + 1));
  if (made == nullptr) return nullptr;
  char* next = made;
  for (const char* at; (at = strstr(text, from)) != nullptr; text = at + from_length) {
    next = static_cast<char*>(mempcpy(next, text, static_cast<size_t>(at - text)));
    next = static_cast<char*>(mempcpy(next, to, to_length));
  }
  strcpy(next, text);
  *count += found;
  return made;
}

}  // namespace

extern "C" {

error_t argz_append(char** argz, size_t* length, const char* bytes, size_t size) noexcept {
  return insert_bytes(argz, length, *length, bytes, size);
}

error_t argz_add(char** argz, size_t* length, const char* text) noexcept {
  return argz_append(argz, length, text, strlen(text) + 1);
}

error_t argz_create(char* const* texts, char** argz, size_t* length) noexcept {
  *argz = nullptr;
  *length = 0;
  for (; *texts != nullptr; ++texts) {
    if (const error_t failed = argz_add(argz, length, *texts); failed != 0) {
      free(*argz);
      return failed;
    }
  }
  return 0;
}

error_t argz_add_sep(char** argz, size_t* length, const char* text, int separator) noexcept {
  while (*text != '\0') {
    if (*text == separator) {
      ++text;
      continue;
    }
    const size_t size = static_cast<size_t>(strchrnul(text, separator) - text);
    const size_t place = *length;
    if (const error_t failed = argz_append(argz, length, text, size); failed != 0) return failed;
    if (const error_t failed = argz_append(argz, length, "", 1); failed != 0) {
      *length = place;
      return failed;
    }
    text += size;
  }
  return 0;
}

error_t argz_create_sep(const char* text, int separator, char** argz, size_t* length) noexcept {
  *argz = nullptr;
  *length = 0;
  const error_t failed = argz_add_sep(argz, length, text, separator);
  if (failed != 0) free(*argz);
  return failed;
}

void argz_delete(char** argz, size_t* length, char* entry) noexcept {
  if (entry != nullptr) remove_bytes(argz, length, static_cast<size_t>(entry - *argz), strlen(entry) + 1);
}

error_t argz_insert(char** argz, size_t* length, char* before, const char* text) noexcept {
  if (before == nullptr) return argz_add(argz, length, text);
  if (before < *argz || before >= *argz + *length) return EINVAL;
  while (before > *argz && before[-1] != '\0') --before;
  return insert_bytes(argz, length, static_cast<size_t>(before - *argz), text, strlen(text) + 1);
}

error_t argz_replace(char** argz, size_t* length, const char* from, const char* to, unsigned* count) {
  if (from == nullptr || *from == '\0') return 0;
  char* made = nullptr;
  size_t made_length = 0;
  unsigned found = 0;
  for (const char* entry = nullptr; (entry = argz_next(*argz, *length, entry)) != nullptr;) {
    const unsigned before = found;
    char* const other = replaced(entry, from, to, &found);
    const bool no_memory = other == nullptr && strstr(entry, from) != nullptr;
    const error_t failed =
        no_memory ? ENOMEM : argz_add(&made, &made_length, found != before ? other : entry);
    free(other);
    if (failed == 0) continue;
    free(made);
    return failed;
  }
  if (count != nullptr) *count += found;
  if (found == 0) {
    free(made);
    return 0;
  }
  free(*argz);
  *argz = made;
  *length = made_length;
  return 0;
}

char* envz_entry(const char* envz, size_t length, const char* name) noexcept {
  const size_t size = static_cast<size_t>(strchrnul(name, '=') - name);
  for (const char* entry = nullptr; (entry = argz_next(envz, length, entry)) != nullptr;) {
    if (has_name(entry, name, size)) return const_cast<char*>(entry);
  }
  return nullptr;
}

void envz_remove(char** envz, size_t* length, const char* name) noexcept {
  argz_delete(envz, length, envz_entry(*envz, *length, name));
}

error_t envz_add(char** envz, size_t* length, const char* name, const char* value) noexcept {
  envz_remove(envz, length, name);
  if (value == nullptr) return argz_add(envz, length, name);
  const size_t place = *length;
  error_t failed = argz_append(envz, length, name, strlen(name));
  if (failed == 0) failed = argz_append(envz, length, "=", 1);
  if (failed == 0) failed = argz_add(envz, length, value);
  if (failed != 0) *length = place;
  return failed;
}

error_t envz_merge(char** envz, size_t* length, const char* other, size_t other_length,
                   int override) noexcept {
  for (const char* entry = nullptr; (entry = argz_next(other, other_length, entry)) != nullptr;) {
    char* const old = envz_entry(*envz, *length, entry);
    if (old != nullptr && override == 0) continue;
    argz_delete(envz, length, old);
    if (const error_t failed = argz_add(envz, length, entry); failed != 0) return failed;
  }
  return 0;
}

void envz_strip(char** envz, size_t* length) noexcept {
  for (char* entry = *envz; entry != nullptr && entry < *envz + *length;) {
    const size_t size = strlen(entry) + 1;
    const size_t place = static_cast<size_t>(entry - *envz);
    if (strchr(entry, '=') != nullptr)
      entry += size;
    else
      remove_bytes(envz, length, place, size);
    if (*envz == nullptr) break;
  }
}

}  // extern "C"

}  // namespace tmpi::shim
