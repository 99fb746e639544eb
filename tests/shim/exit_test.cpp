#include <doctest/doctest.h>
#include <stdlib.h>

#include <unistd.h>
#include <exception>
#include <string>
#include <thread>

#include "guest_copy.hpp"

namespace {

std::string order;
const GuestCopy* running;

void a() {
  order += "a";
}
void b() {
  order += "b";
}
void registers_another() {
  order += "r";
  GUEST(*running, atexit)(&b);
}
void exits_again() {
  order += "e";
  GUEST(*running, exit)(9);
}
void with_code(int code, void* argument) {
  order += std::to_string(code) + static_cast<const char*>(argument);
}

int run(const GuestCopy& guest, const std::function<void()>& program) {
  order.clear();
  running = &guest;
  fake_node::on_fini([](int rank) { order += "F" + std::to_string(rank == running->rank()); });
  return fake_node::run_until_exit(program);
}

}  // namespace

TEST_CASE("exit: thread objects, handlers in reverse, destructors, streams, then the rank is gone") {
  const GuestCopy guest;
  guest.out();
  const int code = run(guest, [&] {
    guest.get<void(const char*)>("guest_cxx_thread_object")("main");
    GUEST(guest, atexit)(&a);
    static char tag[] = "x";
    GUEST(guest, on_exit)(&with_code, tag);
    guest.get<void(void (*)())>("guest_register_atexit")(&b);
    GUEST(guest, printf)("no newline");
    CHECK(guest.out().empty());
    GUEST(guest, exit)(300);
  });
  CHECK(code == 300 % 256);
  CHECK(order == "b300xaF1");
  CHECK(guest.out() == "no newline");
  CHECK(guest.err() == "thread object main gone\n");
}

TEST_CASE("exit: a handler may register another and may call exit again") {
  const GuestCopy guest;
  const int code = run(guest, [&] {
    GUEST(guest, atexit)(&a);
    GUEST(guest, atexit)(&exits_again);
    GUEST(guest, atexit)(&registers_another);
    GUEST(guest, exit)(1);
  });
  CHECK(order == "rbeaF1");
  CHECK(code == 9);
}

TEST_CASE("exit: many handlers") {
  const GuestCopy guest;
  run(guest, [&] {
    for (int i = 0; i < 500; ++i) GUEST(guest, atexit)(i % 2 == 0 ? &a : &b);
    GUEST(guest, exit)(0);
  });
  std::string expected;
  for (int i = 0; i < 250; ++i) expected += "ba";
  CHECK(order == expected + "F1");
}

TEST_CASE("__cxa_finalize runs one object's handlers only") {
  const GuestCopy guest;
  static char object_one, object_two;
  using Register = int(void (*)(void*), void*, void*);
  auto* add = guest.get<Register>("__cxa_atexit");
  auto* finalize = guest.get<void(void*)>("__cxa_finalize");
  auto note = [](void* text) { order += static_cast<const char*>(text); };
  static char one[] = "1", two[] = "2", three[] = "3";
  run(guest, [&] {
    add(note, one, &object_one);
    add(note, two, &object_two);
    add(note, three, &object_one);
    finalize(&object_one);
    CHECK(order == "31");
    GUEST(guest, exit)(0);
  });
  CHECK(order == "312F1");
}

TEST_CASE("_exit and quick_exit skip what they must") {
  const GuestCopy guest;
  guest.out();
  auto program = [&](void (*leave)(int)) {
    return run(guest, [&guest, leave] {
      GUEST(guest, atexit)(&a);
      guest.get<int(void (*)())>("at_quick_exit")(&b);
      GUEST(guest, printf)("lost");
      leave(4);
    });
  };
  CHECK(program(guest.get<void(int)>("_exit")) == 4);
  CHECK(order.empty());
  CHECK(program(guest.get<void(int)>("quick_exit")) == 4);
  CHECK(order == "bb");
  CHECK(guest.out().empty());
}

TEST_CASE("a helper thread's thread_local objects go with the thread") {
  const GuestCopy guest;
  std::thread([&] {
    guest.get<void(const char*)>("guest_cxx_thread_object")("helper");
    CHECK(guest.err().empty());
  }).join();
  CHECK(guest.err() == "thread object helper gone\n");
}
