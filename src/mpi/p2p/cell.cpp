#include "mpi/p2p/cell.hpp"

#include <array>
#include <bit>
#include <cstdlib>
#include <new>

#include "base/platform.hpp"
#include "base/spinlock.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

// Payload sizes; larger ones (a raised eager limit) go to malloc directly.
constexpr std::array<MPI_Count, 4> kSizes = {64, 256, 1024, 4096};
constexpr int kClasses = kSizes.size();
constexpr int kBatch = 32;          // cells moved between a worker and the depot at once
constexpr int kMostWorkers = 1024;  // workers beyond that share malloc

// As aligned as malloc's memory, so that the payload is.
struct alignas(16) Cell : Message {
  int size_class = -1;
};

struct Stock {
  Message* head = nullptr;
  int count = 0;

  void push(Message* cell) noexcept {
    cell->next = head;
    head = cell;
    ++count;
  }
  Message* pop() noexcept {
    Message* cell = head;
    head = cell->next;
    --count;
    return cell;
  }
};

struct alignas(kCacheLine) WorkerStock {
  std::array<Stock, kClasses> classes;
};

struct Depot {
  SpinLock lock;
  Stock stock;
};

WorkerStock worker_stock[kMostWorkers];
Depot depots[kClasses];

int size_class_of(MPI_Count bytes) noexcept {
  int c = 0;
  while (c < kClasses && bytes > kSizes[c]) ++c;
  return c < kClasses ? c : -1;
}

WorkerStock* my_stock() noexcept {
  const int worker = sched::current_worker();
  return worker >= 0 && worker < kMostWorkers ? &worker_stock[worker] : nullptr;
}

Message* allocate(MPI_Count bytes, int size_class) noexcept {
  void* memory =
      std::malloc(sizeof(Cell) + static_cast<std::size_t>(size_class >= 0 ? kSizes[size_class] : bytes));
  if (memory == nullptr) return nullptr;
  Cell* cell = new (memory) Cell;
  cell->size_class = size_class;
  cell->payload = cell + 1;
  return cell;
}

void move_batch(Stock& from, Stock& to) noexcept {
  for (int i = 0; i < kBatch && from.head != nullptr; ++i) to.push(from.pop());
}

// By a thread that is no worker (a progress thread): what it takes, workers give back, so it has to take from
// where that collects.
Message* take_from_depot(int size_class) noexcept {
  Depot& depot = depots[size_class];
  depot.lock.lock();
  Message* const cell = depot.stock.head != nullptr ? depot.stock.pop() : nullptr;
  depot.lock.unlock();
  return cell;
}

void leave_in_depot(Message* cell, int size_class) noexcept {
  Depot& depot = depots[size_class];
  depot.lock.lock();
  depot.stock.push(cell);
  depot.lock.unlock();
}

}  // namespace

Message* take_cell(MPI_Count bytes) noexcept {
  const int size_class = size_class_of(bytes);
  WorkerStock* mine = size_class >= 0 ? my_stock() : nullptr;
  if (mine == nullptr) {
    Message* const cell = size_class >= 0 ? take_from_depot(size_class) : nullptr;
    return cell != nullptr ? cell : allocate(bytes, size_class);
  }
  Stock& stock = mine->classes[size_class];
  if (stock.head == nullptr) [[unlikely]] {
    Depot& depot = depots[size_class];
    depot.lock.lock();
    move_batch(depot.stock, stock);
    depot.lock.unlock();
    if (stock.head == nullptr) return allocate(bytes, size_class);
  }
  return stock.pop();
}

void* cell_room(Message* message) noexcept {
  return static_cast<Cell*>(message) + 1;
}

void give_back_cell(Message* message) noexcept {
  Cell* cell = static_cast<Cell*>(message);
  WorkerStock* mine = cell->size_class >= 0 ? my_stock() : nullptr;
  if (mine == nullptr) {
    if (cell->size_class >= 0) return leave_in_depot(cell, cell->size_class);
    std::free(cell);
    return;
  }
  Stock& stock = mine->classes[cell->size_class];
  stock.push(cell);
  if (stock.count > 2 * kBatch) [[unlikely]] {
    Depot& depot = depots[cell->size_class];
    depot.lock.lock();
    move_batch(stock, depot.stock);
    depot.lock.unlock();
  }
}

}  // namespace tmpi::mpi
