#include "launch/wire/greeting.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launch/system/affinity.hpp"
#include "launch/system/version.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

Greeting own_greeting() {
  Greeting own{kWireVersion, static_cast<int>(getpid()), kVersion, "localhost", {}, {}, {}};
  char name[256] = "";
  if (gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0') own.host = name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> own.machine;
  if (own.machine.empty()) own.machine = own.host;
  own.cores = own_affinity_mask();
  std::error_code unreadable;
  own.network = own.machine + std::filesystem::read_symlink("/proc/self/ns/net", unreadable).string();
  return own;
}

std::string pack(const Greeting& greeting) {
  std::string bytes;
  append_record(bytes, HelloRecord{kWireMagic, greeting.wire_version, greeting.pid});
  Packer packer;
  packer.text(greeting.version);
  packer.text(greeting.host);
  packer.text(greeting.machine);
  packer.text(greeting.cores);
  packer.text(greeting.network);
  return bytes + packer.bytes();
}

Greeting unpack_greeting(std::string_view payload) {
  HelloRecord record{};
  if (!read_record(payload, record) || record.magic != kWireMagic) return {};
  Greeting greeting;
  greeting.wire_version = record.version;
  greeting.pid = record.pid;
  Unpacker unpacker(payload);
  greeting.version = unpacker.text();
  greeting.host = unpacker.text();
  greeting.machine = unpacker.text();
  greeting.cores = unpacker.text();
  greeting.network = unpacker.text();
  return greeting;
}

}  // namespace tmpi::launch
