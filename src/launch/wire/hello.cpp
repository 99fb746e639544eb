#include "launch/wire/hello.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launch/system/affinity.hpp"
#include "launch/system/version.hpp"
#include "launch/wire/fields.hpp"

namespace tmpi::launch {

Hello own_hello() {
  Hello own{kWireVersion, static_cast<int>(getpid()), kVersion, "localhost", {}, {}, {}, {}};
  char name[256] = "";
  if (gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0') own.host = name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> own.machine;
  if (own.machine.empty()) own.machine = own.host;
  own.cores = own_affinity_mask();
  std::error_code unreadable;
  own.network = own.machine + std::filesystem::read_symlink("/proc/self/ns/net", unreadable).string();
  return own;
}

// The texts.
void fields(auto& archive, Of<Hello> auto& hello) {
  archive(hello.version, hello.host, hello.machine, hello.cores, hello.network, hello.no_verbs);
}

std::string pack(const Hello& hello) {
  std::string bytes;
  append_record(bytes, HelloRecord{kWireMagic, hello.wire_version, hello.pid});
  return bytes + packed(hello);
}

Hello unpack_hello(std::string_view payload) {
  HelloRecord record{};
  if (!read_record(payload, record) || record.magic != kWireMagic) return {};
  Hello hello;
  hello.wire_version = record.version;
  hello.pid = record.pid;
  Unpacker unpacker(payload);
  FieldReader{unpacker}(hello);
  return hello;
}

}  // namespace tmpi::launch
