// Attributes of communicators, datatypes and windows, and their keys. MPI report, 7.7; the MPI-1 names of those on
// communicators are deprecated (15.1).
#include "mpi/rank/attributes.hpp"

#include "mpi/api/datatype_calls.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/api/window_calls.hpp"
#include "mpi/rank/predefined_attributes.hpp"
#include "mpi/rma/create.hpp"

namespace tmpi::mpi {
namespace {

template <class Copy, class Delete>
int create_keyval(const char* name, Carrier carrier, Copy* copy, Delete* destroy, int* keyval,
                  void* extra_state) {
  return on_rank(name, [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(keyval, "keyval"));
    Keyval key;
    key.carrier = carrier;
    key.copy = reinterpret_cast<Keyval::Function>(copy);
    key.destroy = reinterpret_cast<Keyval::Function>(destroy);
    key.extra_state = extra_state;
    *keyval = keyvals(rank).create(key);
    return kOk;
  });
}

bool predefined_window_key(int keyval) {
  return keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL;
}

int free_keyval(const char* name, Carrier carrier, int* keyval) {
  return on_rank(name, [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(keyval, "keyval"));
    if (predefined_key(*keyval) || predefined_window_key(*keyval))
      return fail(MPI_ERR_KEYVAL, "the key {} is predefined", *keyval);
    TMPI_TRY(keyvals(rank).free(*keyval, carrier));
    *keyval = MPI_KEYVAL_INVALID;
    return kOk;
  });
}

Err check_own_key(int keyval) {
  if (predefined_key(keyval))
    return fail(MPI_ERR_KEYVAL, "the key {} is predefined: its attribute cannot be set or deleted", keyval);
  return kOk;
}

Err check_own_key(const Window&, int keyval) {
  if (predefined_window_key(keyval))
    return fail(MPI_ERR_KEYVAL, "the key {} is predefined: its attribute cannot be set or deleted", keyval);
  return kOk;
}

// The value goes where the user's pointer to a pointer points.
void give(void* value, void* attribute_val, int* flag) {
  *static_cast<void**>(attribute_val) = value;
  *flag = 1;
}

template <class Object>
Err get(Object& object, int keyval, void* attribute_val, int* flag) {
  TMPI_TRY(check_pointer(attribute_val, "attribute_val"));
  TMPI_TRY(check_pointer(flag, "flag"));
  const Attributes::Entry* found;
  TMPI_TRY(get_attribute(bearer_of(object), keyval, found));
  *flag = 0;
  if (found != nullptr) give(found->value, attribute_val, flag);
  return kOk;
}

int comm_get(const char* name, MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  return on_comm(name, comm, [&](Comm& c) -> Err {
    if (!predefined_key(keyval)) return get(c, keyval, attribute_val, flag);
    TMPI_TRY(check_pointer(attribute_val, "attribute_val"));
    TMPI_TRY(check_pointer(flag, "flag"));
    const int* value = predefined_attribute(*c.owner, keyval);
    *flag = 0;
    if (value != nullptr) give(const_cast<int*>(value), attribute_val, flag);
    return kOk;
  });
}

int comm_set(const char* name, MPI_Comm comm, int keyval, void* value) {
  return on_comm(name, comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_own_key(keyval));
    return set_attribute(bearer_of(c), keyval, value);
  });
}

int comm_delete(const char* name, MPI_Comm comm, int keyval) {
  return on_comm(name, comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_own_key(keyval));
    return delete_attribute(bearer_of(c), keyval);
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                            MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval,
                            void* extra_state) {
  return create_keyval("MPI_Comm_create_keyval", Carrier::kComm, comm_copy_attr_fn, comm_delete_attr_fn,
                       comm_keyval, extra_state);
}
TMPI_PROFILED(MPI_Comm_create_keyval);

int PMPI_Comm_free_keyval(int* comm_keyval) {
  return free_keyval("MPI_Comm_free_keyval", Carrier::kComm, comm_keyval);
}
TMPI_PROFILED(MPI_Comm_free_keyval);

int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  return comm_set("MPI_Comm_set_attr", comm, comm_keyval, attribute_val);
}
TMPI_PROFILED(MPI_Comm_set_attr);

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  return comm_get("MPI_Comm_get_attr", comm, comm_keyval, attribute_val, flag);
}
TMPI_PROFILED(MPI_Comm_get_attr);

int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  return comm_delete("MPI_Comm_delete_attr", comm, comm_keyval);
}
TMPI_PROFILED(MPI_Comm_delete_attr);

int PMPI_Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
                       void* extra_state) {
  return create_keyval("MPI_Keyval_create", Carrier::kComm, copy_fn, delete_fn, keyval, extra_state);
}
TMPI_PROFILED(MPI_Keyval_create);

int PMPI_Keyval_free(int* keyval) {
  return free_keyval("MPI_Keyval_free", Carrier::kComm, keyval);
}
TMPI_PROFILED(MPI_Keyval_free);

int PMPI_Attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  return comm_set("MPI_Attr_put", comm, keyval, attribute_val);
}
TMPI_PROFILED(MPI_Attr_put);

int PMPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  return comm_get("MPI_Attr_get", comm, keyval, attribute_val, flag);
}
TMPI_PROFILED(MPI_Attr_get);

int PMPI_Attr_delete(MPI_Comm comm, int keyval) {
  return comm_delete("MPI_Attr_delete", comm, keyval);
}
TMPI_PROFILED(MPI_Attr_delete);

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
                            MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval,
                            void* extra_state) {
  return create_keyval("MPI_Type_create_keyval", Carrier::kType, type_copy_attr_fn, type_delete_attr_fn,
                       type_keyval, extra_state);
}
TMPI_PROFILED(MPI_Type_create_keyval);

int PMPI_Type_free_keyval(int* type_keyval) {
  return free_keyval("MPI_Type_free_keyval", Carrier::kType, type_keyval);
}
TMPI_PROFILED(MPI_Type_free_keyval);

int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val) {
  return on_type("MPI_Type_set_attr", datatype,
                 [&](Datatype& type) { return set_attribute(bearer_of(type), type_keyval, attribute_val); });
}
TMPI_PROFILED(MPI_Type_set_attr);

int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag) {
  return on_type("MPI_Type_get_attr", datatype,
                 [&](Datatype& type) { return get(type, type_keyval, attribute_val, flag); });
}
TMPI_PROFILED(MPI_Type_get_attr);

int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval) {
  return on_type("MPI_Type_delete_attr", datatype,
                 [&](Datatype& type) { return delete_attribute(bearer_of(type), type_keyval); });
}
TMPI_PROFILED(MPI_Type_delete_attr);

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn,
                           MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval,
                           void* extra_state) {
  return create_keyval("MPI_Win_create_keyval", Carrier::kWin, win_copy_attr_fn, win_delete_attr_fn,
                       win_keyval, extra_state);
}
TMPI_PROFILED(MPI_Win_create_keyval);

int PMPI_Win_free_keyval(int* win_keyval) {
  return free_keyval("MPI_Win_free_keyval", Carrier::kWin, win_keyval);
}
TMPI_PROFILED(MPI_Win_free_keyval);

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void* attribute_val) {
  return on_win("MPI_Win_set_attr", win, [&](Window& w) -> Err {
    TMPI_TRY(check_own_key(w, win_keyval));
    return set_attribute(bearer_of(w), win_keyval, attribute_val);
  });
}
TMPI_PROFILED(MPI_Win_set_attr);

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  return on_win("MPI_Win_get_attr", win, [&](Window& w) -> Err {
    if (!predefined_window_key(win_keyval)) return get(w, win_keyval, attribute_val, flag);
    TMPI_TRY(check_pointer(attribute_val, "attribute_val"));
    TMPI_TRY(check_pointer(flag, "flag"));
    give(const_cast<void*>(predefined_attribute(w, win_keyval)), attribute_val, flag);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Win_get_attr);

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval) {
  return on_win("MPI_Win_delete_attr", win, [&](Window& w) -> Err {
    TMPI_TRY(check_own_key(w, win_keyval));
    return delete_attribute(bearer_of(w), win_keyval);
  });
}
TMPI_PROFILED(MPI_Win_delete_attr);
