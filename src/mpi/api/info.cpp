// Info objects. MPI report, chapter 10. All may be called before MPI_Init and after MPI_Finalize.
#include "mpi/rank/info.hpp"

#include <cstring>

#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

// Runs body(Info&) for a call with an info object.
template <class Body>
int on_info(const char* name, MPI_Info handle, Body&& body) {
  return anywhere(name, [&]() -> Err {
    Info* info = info_from(handle);
    if (info != nullptr) return body(*info);
    if (handle == MPI_INFO_NULL)
      return fail(MPI_ERR_INFO, "the info object is MPI_INFO_NULL: never created, or freed");
    return fail(MPI_ERR_INFO, "{} is no info object", static_cast<const void*>(handle));
  });
}

// The same for a call that changes the object.
template <class Body>
int on_own_info(const char* name, MPI_Info handle, Body&& body) {
  return on_info(name, handle, [&](Info& info) -> Err {
    if (handle == MPI_INFO_ENV)
      return fail(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed or freed: duplicate it with MPI_Info_dup");
    return body(info);
  });
}

Err check_key(const char* key) {
  if (key == nullptr || *key == '\0')
    return fail(MPI_ERR_INFO_KEY, "the key is {}", key == nullptr ? "NULL" : "empty");
  if (::strnlen(key, MPI_MAX_INFO_KEY) == MPI_MAX_INFO_KEY)
    return fail(MPI_ERR_INFO_KEY,
                "the key is longer than {} characters (MPI_MAX_INFO_KEY, with its end, is {})",
                MPI_MAX_INFO_KEY - 1, MPI_MAX_INFO_KEY);
  return kOk;
}

Err check_value(const char* value) {
  if (value == nullptr) return fail(MPI_ERR_INFO_VALUE, "the value is NULL");
  if (::strnlen(value, MPI_MAX_INFO_VAL) == MPI_MAX_INFO_VAL)
    return fail(MPI_ERR_INFO_VALUE,
                "the value is longer than {} characters (MPI_MAX_INFO_VAL, with its end, is {})",
                MPI_MAX_INFO_VAL - 1, MPI_MAX_INFO_VAL);
  return kOk;
}

// As much of a text as fits into `room` bytes with its end.
void copy_cut(const std::string& text, char* out, std::size_t room) {
  if (room == 0) return;
  out[text.copy(out, room - 1)] = '\0';
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Info_create(MPI_Info* info) {
  return anywhere("MPI_Info_create", [&]() -> Err {
    TMPI_TRY(check_pointer(info, "info"));
    *info = handle_of(*new Info);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_create);

// What MPI_INFO_ENV says, in an object of the caller's own. The arguments are the program's own view of what
// the launcher knows better; they serve where nothing else is known.
int PMPI_Info_create_env(int argc, char* argv[], MPI_Info* info) {
  return anywhere("MPI_Info_create_env", [&]() -> Err {
    TMPI_TRY(check_pointer(info, "info"));
    if (argc < 0) return fail(MPI_ERR_ARG, "argc is {}: it must not be negative", argc);
    if (argc > 0) TMPI_TRY(check_pointer(argv, "argv"));
    auto* created = new Info(info_from(MPI_INFO_ENV)->entries());
    if (argc > 0 && argv[0] != nullptr && created->find("command") == nullptr)
      created->set("command", std::string_view(argv[0], ::strnlen(argv[0], MPI_MAX_INFO_VAL - 1)));
    *info = handle_of(*created);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_create_env);

int PMPI_Info_dup(MPI_Info info, MPI_Info* newinfo) {
  return on_info("MPI_Info_dup", info, [&](Info& old) -> Err {
    TMPI_TRY(check_pointer(newinfo, "newinfo"));
    *newinfo = handle_of(*new Info(old.entries()));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_dup);

int PMPI_Info_free(MPI_Info* info) {
  if (info == nullptr) return anywhere("MPI_Info_free", [] { return null_pointer("info"); });
  return on_own_info("MPI_Info_free", *info, [&](Info& old) -> Err {
    delete &old;
    *info = MPI_INFO_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_free);

int PMPI_Info_set(MPI_Info info, const char* key, const char* value) {
  return on_own_info("MPI_Info_set", info, [&](Info& i) -> Err {
    TMPI_TRY(check_key(key));
    TMPI_TRY(check_value(value));
    i.set(key, value);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_set);

int PMPI_Info_delete(MPI_Info info, const char* key) {
  return on_own_info("MPI_Info_delete", info, [&](Info& i) -> Err {
    TMPI_TRY(check_key(key));
    return i.erase(key) ? kOk : fail(MPI_ERR_INFO_NOKEY, "the object has no key \"{}\"", key);
  });
}
TMPI_PROFILED(MPI_Info_delete);

int PMPI_Info_get_nkeys(MPI_Info info, int* nkeys) {
  return on_info("MPI_Info_get_nkeys", info, [&](Info& i) -> Err {
    TMPI_TRY(check_pointer(nkeys, "nkeys"));
    *nkeys = static_cast<int>(i.entries().size());
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_get_nkeys);

int PMPI_Info_get_nthkey(MPI_Info info, int n, char* key) {
  return on_info("MPI_Info_get_nthkey", info, [&](Info& i) -> Err {
    const int keys = static_cast<int>(i.entries().size());
    if (n < 0 || n >= keys)
      return fail(MPI_ERR_ARG, "n is {}, but the object has {} keys, counted from 0", n, keys);
    TMPI_TRY(check_pointer(key, "key"));
    copy_cut(i.entries()[static_cast<std::size_t>(n)].first, key, MPI_MAX_INFO_KEY);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_get_nthkey);

// `buflen` counts the end of the string: bytes of room, then bytes that the whole value needs.
int PMPI_Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  return on_info("MPI_Info_get_string", info, [&](Info& i) -> Err {
    TMPI_TRY(check_key(key));
    TMPI_TRY(check_pointer(buflen, "buflen"));
    TMPI_TRY(check_pointer(flag, "flag"));
    if (*buflen < 0) return fail(MPI_ERR_ARG, "buflen is {}: it must not be negative", *buflen);
    if (*buflen > 0) TMPI_TRY(check_pointer(value, "value"));
    const std::string* found = i.find(key);
    *flag = found != nullptr;
    if (found == nullptr) return kOk;
    copy_cut(*found, value, static_cast<std::size_t>(*buflen));
    *buflen = static_cast<int>(found->size()) + 1;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_get_string);

// Deprecated. `valuelen` does not count the end of the string.
int PMPI_Info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  return on_info("MPI_Info_get", info, [&](Info& i) -> Err {
    TMPI_TRY(check_key(key));
    TMPI_TRY(check_pointer(value, "value"));
    TMPI_TRY(check_pointer(flag, "flag"));
    if (valuelen < 0) return fail(MPI_ERR_ARG, "valuelen is {}: it must not be negative", valuelen);
    const std::string* found = i.find(key);
    *flag = found != nullptr;
    if (found != nullptr) copy_cut(*found, value, static_cast<std::size_t>(valuelen) + 1);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_get);

int PMPI_Info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
  return on_info("MPI_Info_get_valuelen", info, [&](Info& i) -> Err {
    TMPI_TRY(check_key(key));
    TMPI_TRY(check_pointer(valuelen, "valuelen"));
    TMPI_TRY(check_pointer(flag, "flag"));
    const std::string* found = i.find(key);
    *flag = found != nullptr;
    if (found != nullptr) *valuelen = static_cast<int>(found->size());
    return kOk;
  });
}
TMPI_PROFILED(MPI_Info_get_valuelen);
