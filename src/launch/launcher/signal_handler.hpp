// SignalHandler: what tmpirun does on signals, which come through a signalfd.
#pragma once

#include <vector>

#include "launch/launcher/job.hpp"

namespace tmpi::launch {

class SignalHandler {
 public:
  /// `signals`: a signalfd for handled_signals(), which are blocked.
  SignalHandler(Job& job, int signals) : job_(job), signals_(signals) {}

  /// What the signalfd must cover.
  static std::vector<int> handled_signals();

  int descriptor() const { return signals_; }
  void on_readable();
  /// How often the user has asked for the end: from the second time on nothing is waited for.
  int interrupts() const { return interrupts_; }
  /// By which signal the first time; 0: none.
  int ended_by() const { return ended_by_; }

 private:
  void on_signal(int signal);
  void on_interrupt(int signal);
  void save(int signal);
  void stop();
  void go_on();
  void on_started_alone(int process);

  Job& job_;
  int signals_;
  int interrupts_ = 0;
  int ended_by_ = 0;
};

}  // namespace tmpi::launch
