#include "launch/top/screen.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <string_view>

namespace tmpi::launch {
namespace {

constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[2J";
constexpr std::string_view kLeave = "\033[?25h\033[?1049l";
constexpr int kHandled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};

termios g_before;
sigset_t g_outside;  // what was blocked before: in force only while it waits
volatile sig_atomic_t g_came = 0;

void note(int number) {
  if (g_came == 0 || number != SIGWINCH) g_came = number;
}

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0) return;  // the terminal has gone
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

timespec time_of(double seconds) {
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
}

}  // namespace

bool Screen::possible() {
  return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
}

Screen::Screen() {
  sigset_t handled;
  sigemptyset(&handled);
  for (const int number : kHandled) {
    sigaddset(&handled, number);
    struct sigaction action {};
    action.sa_handler = &note;
    sigaction(number, &action, nullptr);
  }
  sigprocmask(SIG_BLOCK, &handled, &g_outside);
  tcgetattr(STDIN_FILENO, &g_before);
  enter();
}

Screen::~Screen() {
  leave();
}

void Screen::enter() {
  termios quiet = g_before;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
  say(kEnter);
}

void Screen::leave() {
  say(kLeave);
  tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
}

Size Screen::size() {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0) return {24, 80};
  return {window.ws_row, window.ws_col};
}

void Screen::draw(const std::string& text) {
  std::string all = "\033[H";
  for (const char c : text) all += c == '\n' ? "\033[K\r\n" : std::string(1, c);
  if (all.ends_with("\r\n")) all.resize(all.size() - 2);  // or the last line would scroll
  say(all + "\033[J");
}

void Screen::stop() {
  leave();
  raise(SIGSTOP);
  tcgetattr(STDIN_FILENO, &g_before);  // whoever had it meanwhile may have changed it
  enter();
}

bool Screen::told() {
  sigset_t there;
  sigpending(&there);
  for (const int number : kHandled) {
    if (number != SIGWINCH && sigismember(&there, number) == 1) return true;
  }
  return false;
}

Screen::Event Screen::wait(double seconds) {
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  const timespec limit = time_of(seconds);
  g_came = 0;
  const int ready = ppoll(&keys, 1, &limit, &g_outside);
  switch (g_came) {
    case 0:
      break;
    case SIGTSTP:
      stop();
      return Event::kRedraw;
    case SIGWINCH:
      return Event::kRedraw;
    default:
      signal_ = g_came;
      return Event::kQuit;
  }
  if (ready <= 0) return Event::kTime;
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q') return Event::kQuit;
  return Event::kRedraw;
}

}  // namespace tmpi::launch
