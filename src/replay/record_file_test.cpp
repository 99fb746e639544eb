#include "replay/record_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "replay/chunk_writer.hpp"

namespace tmpi::replay {
namespace {

struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tmpi_record_" + std::to_string(getpid()))).string();
  ~TemporaryFile() { std::filesystem::remove(path); }
};

void overwrite(const std::string& path, std::size_t place, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(place));
  file << bytes;
}

TEST_CASE("several node processes write into one file, in any order") {
  const TemporaryFile file;
  REQUIRE(create_record(file.path, {3, 2, "reproducible", {"-n", "3", "a.out"}}));
  Result<std::unique_ptr<ChunkFile>> first = ChunkFile::open(file.path, 0),
                                     second = ChunkFile::open(file.path, 1);
  REQUIRE(first);
  REQUIRE(second);
  std::string expected[3];
  {
    ChunkWriter writers[] = {{**first, 0}, {**second, 1}, {**second, 2}};
    for (int i = 0; i < 5000; ++i) {
      const int rank = i % 7 == 0 ? 0 : 1 + i % 2;
      const std::string choice = std::string(1, static_cast<char>(1 + i % 9)) + std::string(i % 5, '\0');
      writers[rank].append(choice);
      expected[rank] += choice;
    }
    const std::string large = "x" + std::string(3 * kChunkRoom, 'y');
    writers[0].append(large);
    expected[0] += large;
  }
  const Result<Record> record = read_record(file.path);
  REQUIRE(record);
  CHECK(record->header.ranks == 3);
  CHECK(record->header.coll == "reproducible");
  CHECK(record->header.command == std::vector<std::string>{"-n", "3", "a.out"});
  for (int rank = 0; rank < 3; ++rank) {
    const std::string& got = record->ranks.at(rank);
    CHECK(got.substr(0, expected[rank].size()) == expected[rank]);
    CHECK(got.find_first_not_of('\0', expected[rank].size()) == std::string::npos);
  }
}

TEST_CASE("the last choice can grow in its place") {
  const TemporaryFile file;
  REQUIRE(create_record(file.path, {1, 1, "", {}}));
  Result<std::unique_ptr<ChunkFile>> chunks = ChunkFile::open(file.path, 0);
  REQUIRE(chunks);
  ChunkWriter writer(**chunks, 0);
  CHECK_FALSE(writer.replace_last("b"));
  writer.append("a");
  writer.append("b");
  CHECK(writer.replace_last("cde"));
  writer.append("f");
  CHECK(read_record(file.path)->ranks.at(0).starts_with(std::string("acdef\0", 6)));
}

TEST_CASE("a file that is no record is refused with a sentence") {
  const TemporaryFile file;
  CHECK(read_record(file.path).message().find("No such file") != std::string::npos);
  std::ofstream(file.path) << "#!/bin/sh\n";
  CHECK(read_record(file.path).message().find("not a file that --record has written") != std::string::npos);
  REQUIRE(write_record(file.path, {{2, 1, "", {"a"}}, {{0, std::string(5000, 'a')}, {1, "b"}}}));
  REQUIRE(read_record(file.path));
  std::filesystem::resize_file(file.path, kChunkSize + 100);
  CHECK(read_record(file.path));  // of a process that has ended at once
  std::filesystem::resize_file(file.path, 20);
  CHECK_FALSE(read_record(file.path));
  REQUIRE(write_record(file.path, {{2, 1, "", {"a"}}, {{0, std::string(5000, 'a')}}}));
  overwrite(file.path, kChunkSize, std::string(8, '\0'));
  CHECK(read_record(file.path).message().find("is missing") != std::string::npos);
  overwrite(file.path, 8, "\x7f");
  CHECK(read_record(file.path).message().find("format 127") != std::string::npos);
}

}  // namespace
}  // namespace tmpi::replay
