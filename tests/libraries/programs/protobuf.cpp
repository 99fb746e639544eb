// Protocol Buffers: generated code registers its messages with the library, once per process: twice is fatal.
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/stubs/common.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <string>

#include "particle.pb.h"
#include "steps.h"

static int logged;
static void count(google::protobuf::LogLevel, const char*, int, const std::string&) {
  logged++;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  GOOGLE_PROTOBUF_VERIFY_VERSION;
  google::protobuf::SetLogHandler(count);
  double sum = 0;
  for (int round = 1; round <= 8; round++) {
    next_step();
    tests::Particle particle;
    particle.set_rank(world_rank);
    for (int i = 0; i < 5; i++) particle.add_position(world_rank + i * 0.5);
    (*particle.mutable_near())["next"].set_rank(world_rank + 1);
    const std::string bytes = particle.SerializeAsString();
    next_step();
    const auto* type =
        google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName("tests.Particle");
    CHECK(type == tests::Particle::descriptor());
    std::unique_ptr<google::protobuf::Message> copy(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
    CHECK(copy->ParseFromString(bytes));
    std::string text, own_text;
    CHECK(google::protobuf::TextFormat::PrintToString(*copy, &text));
    CHECK(google::protobuf::TextFormat::PrintToString(particle, &own_text));
    CHECK_STRING(text.c_str(), own_text.c_str());
    for (int i = 0; i <= world_rank % 2; i++)  // is logged as an error
      CHECK(!google::protobuf::TextFormat::ParseFromString("no_such_field: 1", copy.get()));
    CHECK_EQ(logged, round * (1 + world_rank % 2));
    sum += particle.position(4);
  }
  next_step();
  google::protobuf::ShutdownProtobufLibrary();
  return end_with(sum);
}
