// PmixClient: the little that tmpi asks of a PMIx server: who takes part, a store of texts that all members
// of the job see, and the end of the job. One thread.
#pragma once

#include <string>

#include "base/result.hpp"

namespace tmpi::launch {

class PmixClient {
 public:
  /// True if the environment names a PMIx server.
  static bool has_server();

  /// Connects to the server. Failure: a sentence for the user.
  static Result<PmixClient> connect();

  int rank() const { return rank_; }
  int size() const { return size_; }              ///< processes of the job
  int local_size() const { return local_size_; }  ///< of them on this machine

  /// Publishes a text under `key`; the others see it after fence().
  Result<void> put(const char* key, const std::string& text) const;
  /// Every process of the job has come here; all that was put before is visible.
  Result<void> fence() const;
  Result<std::string> get(int rank, const char* key) const;

  /// Ends all processes of the job; returns if the server takes its time.
  void abort(int code, const std::string& why) const;
  /// No more is asked. The server goes on to watch the process.
  void finish() const;

 private:
  PmixClient() = default;
  std::string space_;
  int rank_ = 0;
  int size_ = 1;
  int local_size_ = 1;
};

}  // namespace tmpi::launch
