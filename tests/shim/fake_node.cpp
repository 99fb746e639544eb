#include "fake_node.hpp"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "privatize/children.hpp"
#include "privatize/descriptor_signals.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_directory.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/thread_hooks.hpp"

#pragma GCC visibility push(default)
#include "privatize/rank_callbacks.h"
extern "C" void tmpi_image_fini(int rank);
#pragma GCC visibility pop

namespace fake_node {
namespace {

struct Rank {
  std::string text[3];
  int writes = 0;
};
// Never destroyed: the guests flush what they still hold when the test program exits.
std::vector<Rank>& ranks = *new std::vector<Rank>(kRanks);
std::mutex mutex;
std::size_t write_limit;
std::string input;
std::function<void(int)> fini;
jmp_buf* ending;
int exit_code;
std::string abort_reason;
int running = -1;

}  // namespace

std::string take_output(int rank, int stream) {
  std::lock_guard guard(mutex);
  return std::exchange(ranks[rank].text[stream], {});
}

int take_writes(int rank) {
  return std::exchange(ranks[rank].writes, 0);
}
void limit_writes(std::size_t bytes) {
  write_limit = bytes;
}
void set_input(const std::string& text) {
  input = text;
}
void on_fini(std::function<void(int)> callback) {
  fini = std::move(callback);
}
void set_running_rank(int rank) {
  running = rank;
  if (tmpi::privatize::thread_has_directory) tmpi::privatize::enter_directory(rank);
}

int run_until_exit(const std::function<void()>& program, std::string* why) {
  jmp_buf here;
  ending = &here;
  abort_reason.clear();
  if (setjmp(here) == 0) program();
  ending = nullptr;
  if (why != nullptr) *why = abort_reason;
  return exit_code;
}

}  // namespace fake_node

// Here ranks never move.
void tmpi::privatize::stay_on_thread(int) noexcept {}

int tmpi::privatize::running_rank() noexcept {
  return fake_node::running;
}
bool tmpi::privatize::in_forked_child() noexcept {
  return false;
}
void tmpi::privatize::become_helper(int rank) noexcept {
  fake_node::running = rank;
}
// Ids are those of the process, and children are nobody's.
pid_t tmpi::privatize::node_process() noexcept {
  static const pid_t process = ::getpid();
  return process;
}
pid_t tmpi::privatize::pid_of_rank(int) noexcept {
  return node_process();
}
int tmpi::privatize::world_rank_of_pid(pid_t) noexcept {
  return -1;
}
pid_t tmpi::privatize::kernel_pid(pid_t id) noexcept {
  return id;
}
void tmpi::privatize::add_child(int, pid_t) noexcept {}
int tmpi::privatize::rank_of_descriptor_signal(siginfo_t&) noexcept {
  return kNoDescriptor;
}
bool tmpi::privatize::next_change(ChildWishes (*)(int), ChildChange&) noexcept {
  return false;
}

extern "C" {

void tmpi_rank_exited(int, int code) {
  fake_node::exit_code = code;
  longjmp(*fake_node::ending, 1);
}

void tmpi_rank_aborted(int, const char* why) {
  fake_node::abort_reason = why;
  fake_node::exit_code = -1;
  longjmp(*fake_node::ending, 1);
}

ssize_t tmpi_rank_write(int rank, int stream, const void* data, size_t length) {
  std::lock_guard guard(fake_node::mutex);
  if (fake_node::write_limit != 0) length = std::min(length, fake_node::write_limit);
  fake_node::ranks[rank].text[stream].append(static_cast<const char*>(data), length);
  ++fake_node::ranks[rank].writes;
  return static_cast<ssize_t>(length);
}

ssize_t tmpi_rank_read(int rank, void* data, size_t length) {
  if (rank != 0) return 0;
  length = std::min(length, fake_node::input.size());
  memcpy(data, fake_node::input.data(), length);
  fake_node::input.erase(0, length);
  return static_cast<ssize_t>(length);
}

void tmpi_image_fini(int rank) {
  if (fake_node::fini) fake_node::fini(rank);
}

ssize_t tmpi_getdelim(char** line, size_t* size, int end, FILE* stream) {
  return ::getdelim(line, size, end, stream);
}
ssize_t tmpi_wait_read(int fd, void* data, size_t length) {
  return read(fd, data, length);
}
ssize_t tmpi_wait_write(int fd, const void* data, size_t length) {
  return write(fd, data, length);
}
ssize_t tmpi_wait_readv(int fd, const struct iovec* parts, int count) {
  return readv(fd, parts, count);
}
ssize_t tmpi_wait_writev(int fd, const struct iovec* parts, int count) {
  return writev(fd, parts, count);
}

void tmpi_rank_closes(int, int) {}
int tmpi_wait_scan(int (*scan)(FILE*, const char*, va_list), FILE* file, const char* format,
                   va_list arguments) {
  return scan(file, format, arguments);
}
int tmpi_wait_flush(int (*flush)(FILE*), FILE* file) {
  return flush(file);
}
FILE* tmpi_wait_open(FILE* (*open)(const char*, const char*), const char* path, const char* mode) {
  return open(path, mode);
}

int tmpi_own_descriptor(int fd) {
  return fd;
}
int tmpi_own_descriptor_here(int fd) {
  return fd;
}
int tmpi_own_descriptor_taken_along(int fd) {
  return fd;
}
int tmpi_may_close(int) {
  return 1;
}
int tmpi_is_own_descriptor(int fd) {
  return fd > 2 ? 1 : 0;
}
int tmpi_last_descriptor() {
  return 0;
}
void tmpi_close_descriptors_of_others() {}
void tmpi_hand_down_limits() {}
void tmpi_limit_child() {}
int tmpi_dup_onto(int from, int to, int flags) {
  return flags != 0 ? dup3(from, to, flags) : dup2(from, to);
}

const char* tmpi_own_file(const char* path, char*) {
  return path;
}

// The guests have no threads.
int tmpi_on_helper_thread() {
  return 0;
}
int tmpi_ranks_are_saved() {
  return 0;
}
int tmpi_may_suspend() {
  return 0;
}
void tmpi_thread_event_happen(void*) {}
void tmpi_thread_event_wait(void*, const char*) {}

}  // extern "C"
