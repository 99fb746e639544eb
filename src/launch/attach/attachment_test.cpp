#include "launch/attach/attachment.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "launch/system/key_pipe.hpp"

using namespace tmpi::launch;

TEST_CASE("an attachment survives the environment") {
  Attachment attachment;
  attachment.child = 1234;
  attachment.output = 8;
  attachment.nodes = {{"first", -1, 2}, {"second.example.org", 7, 16}};
  const auto back = attachment_from_text(to_text(attachment));
  REQUIRE(back);
  CHECK(back->child == 1234);
  CHECK(back->output == 8);
  CHECK(back->key_pipe == -1);
  REQUIRE(back->nodes.size() == 2);
  CHECK(back->nodes[0].channel == -1);
  CHECK(back->nodes[1].host == "second.example.org");
  CHECK(back->nodes[1].channel == 7);
  CHECK(back->slots() == 18);
}

TEST_CASE("texts that are no attachment are refused") {
  for (const char* text :
       {"", "x", "1", "1 host", "1 host 3", "1 host 3 0", "1 host -2 1", "1 -1 -1 host", "1 -1 -1 host 3",
        "1 -1 -1 host 3 0", "1 -1 -1 host -2 1", "1 -1 -1 host 3 1 other", "1 -1 -1 host x 1",
        "1 -1 -1 host 3 99999999999999999999"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(attachment_from_text(text));
  }
}

TEST_CASE("without the variable nothing is attached") {
  const auto none = take_attachment();
  REQUIRE(none);
  CHECK(none->nodes.empty());
}

TEST_CASE("a variable with a closed descriptor is refused, and is gone") {
  setenv(kAttachmentVariable, "-1 -1 -1 host 987 1", 1);
  CHECK_FALSE(take_attachment());
  CHECK(getenv(kAttachmentVariable) == nullptr);
}

TEST_CASE("the key comes through its pipe, once, and not in the text") {
  const auto key = tmpi::net::JobKey::draw();
  REQUIRE(key);
  Attachment attachment;
  attachment.nodes = {{"host", -1, 1}};
  auto pipe = put_key(*key);
  REQUIRE(pipe);
  attachment.key_pipe = pipe->release();
  setenv(kAttachmentVariable, to_text(attachment).c_str(), 1);
  const auto taken = take_attachment();
  REQUIRE(taken);
  REQUIRE(taken->key);
  CHECK(taken->key->job == key->job);
  CHECK(taken->key->secret.bytes == key->secret.bytes);
  setenv(kAttachmentVariable, to_text(attachment).c_str(), 1);
  CHECK_FALSE(take_attachment());  // that descriptor is closed
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  CHECK_FALSE(take_key(tmpi::Fd(ends[0])));  // an empty one is not waited for
  close(ends[1]);
}

TEST_CASE("release waits for the child") {
  Attachment attachment;
  attachment.child = fork();
  if (attachment.child == 0) {
    usleep(20'000);
    _exit(0);
  }
  release(attachment);
  errno = 0;
  CHECK(waitpid(attachment.child, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);  // nobody is left to be waited for
}
