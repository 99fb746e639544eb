// Attributes: what a program caches on communicators and datatypes under keys of its own (MPI report, 7.7).
// An object that can carry attributes has a field std::unique_ptr<Attributes> (null: none); keys belong to
// the rank. Everything is local to the rank that owns the object. Callbacks of the program run on its fiber,
// may call MPI and so may SUSPEND; they may also change the attributes of the object they are called for.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "mpi.h"
#include "mpi/base/error.hpp"

namespace tmpi::mpi {

class Attributes;

/// The kind of object that a key is for; callbacks get its handle.
enum class Carrier : unsigned char { kComm, kType, kWin };

/// An attribute key. Lives as long as its handle or an attribute with it.
struct Keyval {
  /// A callback of the type that belongs to the carrier (MPI_Comm_copy_attr_function ...), or one of the
  /// ABI's constants, which are the same for all carriers (MPI_COMM_DUP_FN ...).
  using Function = void (*)();
  int id = MPI_KEYVAL_INVALID;
  Carrier carrier = Carrier::kComm;
  Function copy = nullptr;
  Function destroy = nullptr;
  void* extra_state = nullptr;
};

/// The keys that a rank has made and not yet freed, and the attributes of what all ranks share.
class Keyvals {
 public:
  Keyvals();
  ~Keyvals();
  /// Gives the key its id.
  int create(Keyval keyval);
  /// MPI_ERR_KEYVAL if there is no such key of this kind; attributes with it live on. While they do the key
  /// is not gone (MPI report, 7.7.2), so that freeing it again, from a delete callback say, does nothing.
  Err free(int id, Carrier carrier);
  Err find(int id, Carrier carrier, std::shared_ptr<const Keyval>& keyval) const;

  /// Attributes of a predefined datatype, which are this rank's although the type is everybody's.
  std::unique_ptr<Attributes>& of_predefined(MPI_Datatype type);

  // For ranks that are saved (mpi/save).
  using Keys = std::map<int, std::shared_ptr<const Keyval>>;
  using OfPredefined = std::map<MPI_Datatype, std::unique_ptr<Attributes>>;
  const Keys& keys() const noexcept { return keys_; }
  const OfPredefined& of_predefined() const noexcept { return predefined_types_; }
  int next() const noexcept { return next_; }
  /// The next key that is made gets this id.
  void go_on_at(int next) noexcept { next_ = next; }
  /// The key that `keyval` says, made if need be; `freed`: only attributes have it.
  std::shared_ptr<const Keyval> revive(const Keyval& keyval, bool freed);

  /// Where MPI_Comm_get_attr's result for a predefined key of this rank lies.
  const int* remember(int keyval, int value) { return &(numbers_[keyval] = value); }

 private:
  int next_ = 0x1000;  // beyond every predefined key
  Keys keys_;
  std::map<int, std::weak_ptr<const Keyval>> freed_;  // those that attributes still have, and some more
  OfPredefined predefined_types_;
  std::map<int, int> numbers_;  // nodes do not move
};

/// The attributes of one object, in the order in which they were set.
class Attributes {
 public:
  struct Entry {
    std::shared_ptr<const Keyval> keyval;
    void* value;
  };
  const Entry* find(int keyval) const noexcept;
  std::vector<Entry> entries;
};

/// An object as a carrier of attributes.
struct Bearer {
  Carrier carrier;
  void* handle;  ///< as callbacks see it
  std::unique_ptr<Attributes>& attributes;
  const std::unique_ptr<Keyvals>& keyvals;  ///< of the rank that it belongs to; null: none made yet
};

/// MPI_X_get_attr without the predefined keys: null and kOk if the object has no attribute with this key.
Err get_attribute(const Bearer& bearer, int keyval, const Attributes::Entry*& found);
/// MPI_X_set_attr: an attribute that exists is deleted first (its callback is called).
Err set_attribute(const Bearer& bearer, int keyval, void* value);
/// MPI_X_delete_attr. If the delete callback fails, its code is returned and the attribute stays.
Err delete_attribute(const Bearer& bearer, int keyval);

/// For the duplication of objects: the copy callbacks decide on each attribute, in the order in which they
/// were set. If one fails, its code is returned and the caller frees `to`, with delete_attributes first. The
/// new object's handle must be valid already.
Err copy_attributes(const Bearer& from, const Bearer& to);
/// When an object is freed (by the program's call, not with the last reference) and for MPI_COMM_SELF at
/// MPI_Finalize: the delete callbacks, the attribute that was set last first (MPI report, 11.2.4). If one
/// fails, its code is returned, that attribute and those before it stay, and the object is not freed.
Err delete_attributes(const Bearer& bearer);

}  // namespace tmpi::mpi
