#include "mpi/datatype/datatype.hpp"

#include "mpi/datatype/description.hpp"
#include "mpi/datatype/layout.hpp"

namespace tmpi::mpi {

Datatype::Datatype() noexcept = default;

Datatype::~Datatype() {
  magic_ = 0;
}

void Datatype::release_derived() const noexcept {
  // Release orders this holder's reads before the deletion, acquire the deletion after everybody's.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // A chain of derived types may be longer than a fiber's stack is deep: a loop, not recursion.
  const Datatype* dead = this;
  while (dead != nullptr) {
    const Datatype* type = dead;
    dead = type->next_dead_;
    for (const Datatype* old : type->description_->types) {
      if (old->predefined() || old->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      old->next_dead_ = dead;
      dead = old;
    }
    delete type;
  }
}

MPI_Datatype handle_of(const Datatype& type) noexcept {
  return type.handle();
}

}  // namespace tmpi::mpi
