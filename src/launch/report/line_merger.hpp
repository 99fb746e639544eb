// LineMerger: the bytes of many ranks become one text of whole lines. A rank's incomplete line is kept back
// until its end comes, so two ranks' texts never share a line. Exceptions, each so that nothing is hidden or
// lost: the rank ends (its last line comes out unterminated, and a newline is added only if something
// follows), the rank waits for input (a prompt becomes visible), a terminal has been idle (progress dots), or
// the line is longer than kLongestLine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "launch/report/sink.hpp"
#include "launch/spec/tags.hpp"

namespace tmpi::launch {

class LineMerger {
 public:
  static constexpr std::size_t kLongestLine = 1 << 20;
  static constexpr std::size_t kMostHeldBack = 64 << 20;  ///< all ranks' incomplete lines together

  /// `sink` must outlive the merger.
  LineMerger(Sink& sink, Tags tags) : sink_(sink), tags_(tags) {}

  /// Bytes of rank `rank` (-1: of no rank) on stream 1 or 2.
  void output(int rank, int stream, std::string_view bytes);

  /// Lets out the incomplete line of the rank, if there is one.
  void release(int rank);
  /// Lets out an incomplete line if no other line stands open: for a terminal that has been idle.
  void release_when_idle();
  bool holds_back() const { return !held_.empty(); }
  /// Lets out everything: the job has ended.
  void finish();

  /// A line of tmpirun's own.
  void message(std::string_view text);

 private:
  using Source = std::int64_t;  // rank * 2 + stream - 1
  static constexpr Source kNobody = INT64_MIN;
  static constexpr Source kTmpirun = INT64_MIN + 1;

  void emit(Source source, std::string_view text);
  void emit_tagged(Source source, std::string_view text);
  void hold(Source source, std::string_view text);
  void release(Source source);

  Sink& sink_;
  Tags tags_;
  Source open_ = kNobody;  // whose unterminated text ends the output so far
  std::unordered_map<Source, std::string> held_;
  std::size_t held_bytes_ = 0;
};

}  // namespace tmpi::launch
