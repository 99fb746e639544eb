// A program with operators new and delete of its own: libstdc++ allocates and frees by them too.
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "steps.h"

namespace {
long blocks = 0;  // held by this rank
constexpr std::size_t kMark = 0x4f776e4e6577;
struct alignas(16) Head {
  std::size_t mark;
};

void* allocate(std::size_t bytes) {
  auto* head = static_cast<Head*>(std::malloc(bytes + sizeof(Head)));
  if (head == nullptr) throw std::bad_alloc();
  head->mark = kMark;
  __atomic_add_fetch(&blocks, 1, __ATOMIC_RELAXED);
  return head + 1;
}

void release(void* block) {
  if (block == nullptr) return;
  Head* head = static_cast<Head*>(block) - 1;
  if (head->mark != kMark) check_failed(__FILE__, __LINE__, "delete of what another operator new made");
  head->mark = 0;
  __atomic_sub_fetch(&blocks, 1, __ATOMIC_RELAXED);
  std::free(head);
}
}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes);
}
void operator delete(void* block) noexcept {
  release(block);
}
void operator delete[](void* block) noexcept {
  release(block);
}
void operator delete(void* block, std::size_t) noexcept {
  release(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  release(block);
}

static void use_library() {
  std::string text = "a string that is too long for the object itself";
  text += text;
  text.insert(5, " longer");
  std::ostringstream out;
  for (int i = 0; i < 200; i++) out << i << ' ' << text << '\n';
  std::istringstream in(out.str());
  std::map<std::string, int> words;
  for (std::string word; in >> word;) words[word]++;
  CHECK_EQ(words["string"], 200);
  std::ifstream file("/etc/passwd");
  std::string line;
  CHECK(std::getline(file, line) && !line.empty());
  try {
    throw std::runtime_error(text);
  } catch (const std::exception& e) {
    CHECK_STRING(e.what(), text.c_str());
  }
  std::locale changed(std::locale::classic(), new std::numpunct<char>);
  out.imbue(changed);
  out << 1234.5;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  use_library();  // what libstdc++ keeps for good
  long before = blocks;
  for (int round = 0; round < 10; round++) {
    next_step();
    use_library();
    auto shared = std::make_shared<std::vector<std::string>>(10 + world_rank, std::string(100, 'x'));
    CHECK_EQ(blocks - before, 2 + 10 + world_rank);
    std::function<std::size_t()> count = [shared] { return shared->size(); };
    std::size_t seen = 0;
    std::thread([&] { seen = count(); }).join();
    CHECK_EQ(seen, 10 + world_rank);
  }
  CHECK_EQ(blocks, before);
  std::cout << "rank " << world_rank << " of " << world_size << std::endl;
  return end_with(world_rank);
}
