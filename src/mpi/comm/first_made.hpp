// What several ranks of a node process have in common, and each of them makes alike when it is revived: the first does it.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "mpi/comm/context.hpp"

namespace tmpi::mpi {

template <class T>
class FirstMade {
 public:
  /// That of `context`, by `make` if there is none (any more). Any thread.
  template <class Make>
  std::shared_ptr<T> get(ContextId context, Make make) {
    const std::lock_guard guard(mutex_);
    std::shared_ptr<T> shared = made_[context].lock();
    if (shared == nullptr) made_[context] = shared = make();
    return shared;
  }

 private:
  std::mutex mutex_;
  std::map<ContextId, std::weak_ptr<T>> made_;
};

}  // namespace tmpi::mpi
