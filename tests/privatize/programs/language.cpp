// What C++ needs: exceptions that block inside a catch block, guards of function statics, run-time types,
// thread_local objects, call_once, streams and containers of the shared libstdc++.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "check.h"

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Square : Shape {
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
  int side;
};
struct Other : Shape {
  int area() const override { return 0; }
};

struct Tracked {
  Tracked() : rank(test_rank()) { test_count("constructed"); }
  ~Tracked() {
    CHECK(rank == test_rank());
    test_count("destroyed");
  }
  int rank;
  std::vector<int> values{1, 2, 3};
};

Tracked global_object;
std::map<std::string, int> table = {{"a", 1}, {"b", 2}};
thread_local int counter = 10;
thread_local std::string per_thread_text = "thread";

Tracked& singleton() {
  static Tracked object;
  return object;
}

struct Error : std::runtime_error {
  Error(int r, const std::string& text) : std::runtime_error(text), rank(r) {}
  int rank;
};

[[gnu::noinline]] void thrower(int rank, int depth) {
  const std::string here = "depth " + std::to_string(depth);
  if (depth == 0) throw Error(rank, "rank " + std::to_string(rank));
  thrower(rank, depth - 1);
  test_count("unreachable");
}

void blocking_catch(int rank) {
  try {
    thrower(rank, 5);
  } catch (const std::exception& caught) {
    test_yield();  // others throw and catch meanwhile
    const auto* error = dynamic_cast<const Error*>(&caught);
    CHECK(error != nullptr && error->rank == rank);
    CHECK(caught.what() == "rank " + std::to_string(rank));
    try {
      test_yield();
      throw;  // must still be this rank's exception
    } catch (const Error& again) {
      CHECK(again.rank == rank);
      test_yield();
    }
    CHECK(std::uncaught_exceptions() == 0);
    try {
      std::throw_with_nested(std::logic_error("outer " + std::to_string(rank)));
    } catch (const std::logic_error& outer) {
      test_yield();
      try {
        std::rethrow_if_nested(outer);
        CHECK(false);
      } catch (const Error& inner) {
        CHECK(inner.rank == rank);
      }
    }
  }
}

struct Unwound {
  explicit Unwound(int& target) : value(target) {}
  ~Unwound() {
    CHECK(std::uncaught_exceptions() == 1);
    test_yield();  // blocks in a destructor while the exception flies
    CHECK(std::uncaught_exceptions() == 1);
    ++value;
  }
  int& value;
};

}  // namespace

int main(int, char** argv) {
  const int rank = test_rank();
  CHECK(global_object.rank == rank && global_object.values.size() == 3);
  CHECK(&singleton() == &singleton());
  table["rank"] = rank;
  global_object.values.push_back(rank);
  counter += rank;
  per_thread_text += std::to_string(rank);
  blocking_catch(rank);
  int unwound = 0;
  try {
    Unwound guard(unwound);
    throw rank;
  } catch (int value) {
    CHECK(value == rank && unwound == 1);
  }
  test_yield();
  CHECK(table["rank"] == rank && global_object.values.back() == rank);
  CHECK(counter == 10 + rank && per_thread_text == "thread" + std::to_string(rank));
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Square>(rank));
  shapes.push_back(std::make_unique<Other>());
  CHECK(shapes[0]->area() == rank * rank && dynamic_cast<Square*>(shapes[1].get()) == nullptr);
  CHECK(typeid(*shapes[0]) == typeid(Square) && typeid(*shapes[1]) != typeid(Square));
  std::once_flag once;
  int called = 0;
  for (int i = 0; i < 2; ++i) std::call_once(once, [&] { called += rank + 1; });
  CHECK(called == rank + 1);
  std::ostringstream text;
  text << std::hex << 255 << ' ' << 1.5 << ' ' << argv[0];
  CHECK(text.str().rfind("ff 1.5 ", 0) == 0);
  auto future = std::make_shared<int>(rank);
  std::weak_ptr<int> weak = future;
  CHECK(*weak.lock() == rank);
  try {
    std::vector<int>().at(3);
    CHECK(false);
  } catch (const std::out_of_range&) {
    test_count("library exception");
  }
  return 0;
}
