#include "launch/report/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tmpi::launch {

namespace {

bool same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

Output::Output(Tags tags, bool merge, std::optional<OutputFiles> files)
    : out_(STDOUT_FILENO),
      err_(STDERR_FILENO),
      merge_(merge),
      separate_(!same_file(STDOUT_FILENO, STDERR_FILENO)),
      out_lines_(std::make_unique<LineMerger>(out_, tags)),
      err_lines_(std::make_unique<LineMerger>(err_, tags)),
      files_(std::move(files)),
      last_write_(std::chrono::steady_clock::now()) {}

Result<void> Output::write(int rank, int stream, std::string_view bytes) {
  if (files_) return files_->write(rank, merge_ ? 1 : stream, bytes);
  merger(merge_ ? 1 : stream).output(rank, stream, bytes);
  last_write_ = std::chrono::steady_clock::now();
  idle_done_ = false;
  return {};
}

void Output::rank_ended(int rank) {
  out_lines_->release(rank);
  err_lines_->release(rank);
}

void Output::rank_waits_for_input(int rank) {
  rank_ended(rank);
}

void Output::message(std::string_view line) {
  merger(2).message(line);
}

void Output::finish() {
  out_lines_->finish();
  err_lines_->finish();
}

void Output::flush() {
  out_.flush();
  err_.flush();
}

int Output::idle_wait() const {
  const bool waiting =
      (out_.is_terminal() && out_lines_->holds_back()) || (err_.is_terminal() && err_lines_->holds_back());
  if (!waiting || idle_done_) return -1;
  const auto due = last_write_ + kIdle - std::chrono::steady_clock::now();
  return static_cast<int>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(due).count() + 1));
}

void Output::flush_idle() {
  if (idle_done_ || std::chrono::steady_clock::now() < last_write_ + kIdle) return;
  idle_done_ = true;
  if (out_.is_terminal()) out_lines_->release_when_idle();
  if (err_.is_terminal()) err_lines_->release_when_idle();
}

}  // namespace tmpi::launch
