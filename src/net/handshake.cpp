#include "net/handshake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "net/handshake_wire.hpp"

namespace tmpi::net {
namespace {

// Text from outside goes into messages on the user's terminal: printable or nothing.
template <std::size_t size>
void copy_text(char (&to)[size], std::string_view from) noexcept {
  const std::size_t length = std::min(from.size(), size - 1);
  for (std::size_t i = 0; i < length; ++i) to[i] = from[i] >= ' ' && from[i] < 127 ? from[i] : '?';
  to[length] = '\0';
}

template <std::size_t size>
std::string_view text_of(const char (&field)[size]) noexcept {
  return {field, strnlen(field, size)};
}

template <class Record>
Record read(std::span<const std::byte> bytes) noexcept {
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

}  // namespace

const char* own_version() noexcept {
  return TMPI_VERSION;
}

Handshake::Handshake(const Identity& self, bool initiator) noexcept
    : initiator_(initiator), role_(self.role), node_(self.node), job_(self.job), secret_(self.secret) {
  static_assert(sizeof(Hello) == kHelloBytes && sizeof(Answer) == kAnswerBytes);
  copy_text(version_, self.version);
  copy_text(host_, self.host);
}

Handshake Handshake::initiate(const Identity& self, std::int32_t peer) {
  Handshake handshake(self, true);
  handshake.peer_ = peer;
  handshake.say_hello(peer);
  return handshake;
}

Handshake Handshake::answer(const Identity& self) {
  return Handshake(self, false);
}

Handshake Handshake::answer_each(const Identity& self) {
  Handshake handshake(self, false);
  handshake.secret_comes_later_ = true;
  return handshake;
}

std::size_t Handshake::wanted() const noexcept {
  if (state_ != State::kRunning || expect_ == Expect::kNothing) return 0;
  return incoming_size() - in_filled_;
}

std::size_t Handshake::take(std::span<const std::byte> bytes) noexcept {
  std::size_t taken = 0;
  while (taken < bytes.size() && wanted() != 0) {
    const std::size_t piece = std::min(bytes.size() - taken, wanted());
    std::memcpy(in_.data() + in_filled_, bytes.data() + taken, piece);
    in_filled_ += piece;
    taken += piece;
    if (expect_ == Expect::kHello && !preamble_fits()) break;
    if (in_filled_ < incoming_size()) break;
    in_filled_ = 0;
    if (expect_ == Expect::kHello) {
      on_hello();
    } else {
      on_answer();
    }
  }
  return taken;
}

// Judges what has come of a Hello so far, so that a foreign stream is refused at its first wrong byte and
// another version of tmpi after the preamble that all versions share.
bool Handshake::preamble_fits() noexcept {
  const std::size_t known = std::min(in_filled_, sizeof kHandshakeMagic);
  if (std::memcmp(in_.data(), kHandshakeMagic, known) != 0) {
    conclude(Refusal::kGarbage, false);
    return false;
  }
  if (in_filled_ < sizeof(Preamble)) return true;
  const auto preamble = read<Preamble>(in_);
  copy_text(peer_version_, text_of(preamble.version));
  copy_text(peer_host_, text_of(preamble.host));
  if (preamble.protocol == kHandshakeProtocol && std::strcmp(peer_version_, version_) == 0) return true;
  if (!initiator_) {
    say_hello(peer_);
    say(Refusal::kVersion, {});
  }
  conclude(Refusal::kVersion, false);
  return false;
}

void Handshake::say_hello(std::int32_t to) noexcept {
  Hello hello{};
  std::memcpy(hello.preamble.magic, kHandshakeMagic, sizeof kHandshakeMagic);
  hello.preamble.protocol = kHandshakeProtocol;
  std::memcpy(hello.preamble.version, version_, sizeof version_);
  hello.job = job_;
  hello.from = node_;
  hello.to = to;
  hello.role = static_cast<std::uint8_t>(role_);
  hello.challenge = draw_challenge();
  std::memcpy(hello.preamble.host, host_, sizeof host_);
  std::memcpy(own_hello_.data(), &hello, sizeof hello);
  std::memcpy(out_.data() + out_end_, &hello, sizeof hello);
  out_end_ += sizeof hello;
}

void Handshake::say(Refusal why, std::string_view sentence) noexcept {
  Answer answer{};
  answer.refusal = static_cast<std::uint32_t>(why);
  if (why == Refusal::kNone) answer.proof = prove(secret_, statement(initiator_));
  copy_text(answer.sentence, sentence);
  std::memcpy(out_.data() + out_end_, &answer, sizeof answer);
  out_end_ += sizeof answer;
}

// What a proof covers: which end makes it, and both Hellos, the initiator's first.
Handshake::Statement Handshake::statement(bool initiator) const noexcept {
  Statement statement;
  statement[0] = static_cast<std::byte>(initiator ? 'I' : 'A');
  const auto& first = initiator_ ? own_hello_ : peer_hello_;
  const auto& second = initiator_ ? peer_hello_ : own_hello_;
  std::copy(first.begin(), first.end(), statement.begin() + 1);
  std::copy(second.begin(), second.end(), statement.begin() + 1 + kHelloBytes);
  return statement;
}

void Handshake::on_hello() noexcept {
  peer_hello_ = in_;
  const auto hello = read<Hello>(in_);
  Refusal why = Refusal::kNone;
  if (hello.job != job_) {
    why = Refusal::kJob;
  } else if (hello.role != static_cast<std::uint8_t>(role_) || hello.to != node_ ||
             (initiator_ && hello.from != peer_)) {
    why = Refusal::kWrongNode;
  }
  if (!initiator_) peer_ = hello.from;
  if (secret_comes_later_ && why == Refusal::kNone) {
    state_ = State::kNamed;
    return;
  }
  answer_hello(why);
}

void Handshake::use_secret(const Secret& secret) noexcept {
  secret_ = secret;
  state_ = State::kRunning;
  answer_hello(Refusal::kNone);
}

void Handshake::answer_hello(Refusal why) noexcept {
  if (!initiator_) {
    say_hello(peer_);
    say(why, {});
  } else if (why != Refusal::kNone) {
    say(why, {});
  }
  if (why != Refusal::kNone) return conclude(why, false);
  expect_ = Expect::kAnswer;
}

void Handshake::on_answer() noexcept {
  const auto answer = read<Answer>(in_);
  if (answer.refusal != 0) {
    const bool known = answer.refusal <= static_cast<std::uint32_t>(Refusal::kEnded);
    return conclude(known ? static_cast<Refusal>(answer.refusal) : Refusal::kGarbage, true,
                    text_of(answer.sentence));
  }
  const bool last = initiator_ && out_end_ == kHelloBytes + kAnswerBytes;
  if (last) {
    expect_ = Expect::kNothing;
    state_ = State::kAccepted;
    return;
  }
  if (!proves(answer.proof, secret_, statement(!initiator_))) {
    say(Refusal::kSecret, {});
    return conclude(Refusal::kSecret, false);
  }
  if (initiator_) {
    say(Refusal::kNone, {});
  } else {
    expect_ = Expect::kNothing;
    state_ = State::kClaimed;
  }
}

void Handshake::accept() noexcept {
  say(Refusal::kNone, {});
  state_ = State::kAccepted;
}

void Handshake::refuse(std::string_view sentence, Refusal why) noexcept {
  if (state_ == State::kNamed) say_hello(peer_);
  say(why, sentence);
  conclude(why, false, sentence);
}

void Handshake::abandon(Refusal why, std::string_view sentence) noexcept {
  out_begin_ = out_end_;
  conclude(why, false, sentence);
}

void Handshake::conclude(Refusal why, bool by_peer, std::string_view sentence) noexcept {
  state_ = State::kRefused;
  expect_ = Expect::kNothing;
  refusal_ = why;
  refused_by_peer_ = by_peer;
  copy_text(sentence_, sentence);
}

std::string Handshake::message() const {
  const char* host = peer_host_[0] != '\0' ? peer_host_ : "the other end";
  const char* whose = refused_by_peer_ ? "says it" : "found here";
  switch (refusal_) {
    case Refusal::kNone:
      return "connected";
    case Refusal::kGarbage:
      return "what came is not the protocol of tmpi: another program is at that port";
    case Refusal::kVersion:
      if (std::strcmp(peer_version_, version_) == 0)
        return fmt::format("{} runs another build of tmpi {}: install the same one on all hosts", host,
                           version_);
      return fmt::format("{} runs tmpi {}, this is tmpi {}: install the same version on all hosts", host,
                         peer_version_[0] != '\0' ? peer_version_ : "of another version", version_);
    case Refusal::kJob:
      return fmt::format("{} takes part in another job", host);
    case Refusal::kWrongNode:
      return fmt::format("{} is not the node that was meant ({})", host, whose);
    case Refusal::kSecret:
      return fmt::format("{} and this process do not have the same job secret ({})", host, whose);
    case Refusal::kNotNow:
    case Refusal::kUnwanted:
    case Refusal::kEnded:
      return refused_by_peer_ ? fmt::format("{} refuses the connection: {}", host, sentence_) : sentence_;
    case Refusal::kClosed:
      return sentence_[0] != '\0' ? sentence_
                                  : "the connection was closed before both sides had said who they are";
    case Refusal::kLate:
      return sentence_[0] != '\0' ? sentence_ : "the other end did not say in time who it is";
  }
  return "refused";
}

}  // namespace tmpi::net
