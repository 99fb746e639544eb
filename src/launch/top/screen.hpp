// Screen: the terminal while tmpi-top draws in it: the alternate screen, no cursor, keys without Return and without echo. It is as
// it was when the Screen is gone, and while the process is stopped. One per process, one thread.
#pragma once

#include <string>

#include "launch/top/view.hpp"

namespace tmpi::launch {

class Screen {
 public:
  /// stdin and stdout are a terminal.
  static bool possible();

  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static Size size();
  /// From its first line on; nothing is left of what was there.
  void draw(const std::string& text);

  enum class Event : unsigned char { kTime, kRedraw, kQuit };
  /// Waits for `seconds`, a key (q, Ctrl-C), a signal that ends the process, or a new size. A stop (Ctrl-Z) is taken here.
  Event wait(double seconds);
  /// A signal is there that wait() will take.
  static bool told();
  /// The signal that kQuit stands for; 0: a key.
  int signal() const noexcept { return signal_; }

 private:
  void enter();
  void leave();
  void stop();

  int signal_ = 0;
};

}  // namespace tmpi::launch
