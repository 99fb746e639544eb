// JobDoor: how a running job is asked something: a socket in the user's directory of jobs (job_directory.hpp), named after
// tmpirun's process id. Who asks sends one frame (kDoorStacks and its like) and gets one (kDoorAnswer); as often as he
// likes. Only processes of the same user get through. tmpirun's one thread; nothing waits but in the functions for those
// who ask.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "launch/wire/channel.hpp"

namespace tmpi::launch {

class JobDoor {
 public:
  /// Answers `question`, which `about` may say more of, by answer(caller, text), sooner or later.
  using Question = std::function<void(FrameType question, std::string_view about, int caller)>;
  explicit JobDoor(Question question) : question_(std::move(question)) {}
  ~JobDoor();
  JobDoor(const JobDoor&) = delete;
  JobDoor& operator=(const JobDoor&) = delete;

  /// Can be asked from now on. Failure: it cannot; the job runs all the same.
  Result<void> open();
  /// What `caller` is told. Nothing happens if he has gone.
  void answer(int caller, std::string_view text);

  /// Why he gets no answer: the Failure of his ask().
  void refuse(int caller, std::string_view why);

  /// What poll() is to look at, and what has come of it, in the same order.
  void watch(std::vector<pollfd>& requests) const;
  std::size_t watched() const noexcept { return (listener_ ? 1 : 0) + callers_.size(); }
  void serve(const pollfd* requests);

 private:
  struct Caller {
    int number;
    Channel channel;
    bool gone = false;
  };

  void receive(Caller& caller);
  void tell(int number, std::uint16_t detail, std::string_view text);

  const Question question_;
  Fd directory_, listener_;
  int last_number_ = 0;
  std::list<Caller> callers_;
};

/// tmpirun's process ids of the user's jobs on this machine that can be asked. Removes what dead ones have left.
Result<std::vector<int>> jobs_to_ask();

/// A job that is asked. Its functions block.
class AskedJob {
 public:
  /// `job`: tmpirun's process id, 0: the only one. Failure: there is no such job, or there are several.
  static Result<AskedJob> find(int job);

  int job() const noexcept { return job_; }
  /// Failure: it is refused, the job has ended, or does not answer for `seconds`; without a sentence: `given_up`, which is asked now and
  /// then, if it is not null, says yes.
  Result<std::string> ask(FrameType question, int seconds, bool (*given_up)() = nullptr,
                          std::string_view about = {});

 private:
  AskedJob(int job, Channel channel) : job_(job), channel_(std::move(channel)) {}
  int job_;
  Channel channel_;
};

}  // namespace tmpi::launch
