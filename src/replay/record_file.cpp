#include "replay/record_file.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

namespace tmpi::replay {
namespace {

constexpr char kMagic[8] = {'t', 'm', 'p', 'i', 'r', 'e', 'c', '\n'};
constexpr std::uint32_t kMostRanks = 1 << 24;
constexpr std::uint64_t kMostText = 64 << 20;

/// As it stands at the begin of the file; the words follow, each with a zero behind it.
struct FixedHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t ranks;
  std::uint32_t nodes;
  std::uint32_t words;
  std::uint64_t text;  ///< bytes of all words
};
static_assert(sizeof(FixedHeader) == 32);

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path, const char* mode) {
  return {std::fopen(path.c_str(), mode), &std::fclose};
}

std::string text_of(const RecordHeader& header) {
  std::string text = header.coll + '\0';
  for (const std::string& word : header.command) text += word + '\0';
  return text;
}

std::size_t whole_chunks(std::size_t bytes) {
  return (bytes + kChunkSize - 1) / kChunkSize * kChunkSize;
}

std::string packed(const RecordHeader& header) {
  const std::string text = text_of(header);
  FixedHeader fixed{{},
                    kRecordVersion,
                    static_cast<std::uint32_t>(header.ranks),
                    static_cast<std::uint32_t>(header.nodes),
                    static_cast<std::uint32_t>(header.command.size() + 1),
                    text.size()};
  std::copy(std::begin(kMagic), std::end(kMagic), fixed.magic);
  std::string bytes(reinterpret_cast<const char*>(&fixed), sizeof fixed);
  bytes += text;
  bytes.resize(whole_chunks(bytes.size()));
  return bytes;
}

Result<RecordHeader> unpack(std::FILE& file) {
  FixedHeader fixed{};
  if (std::fread(&fixed, sizeof fixed, 1, &file) != 1 ||
      !std::equal(std::begin(kMagic), std::end(kMagic), fixed.magic))
    return Failure{"this is not a file that --record has written"};
  if (fixed.version != kRecordVersion) {
    return Failure{fmt::format(
        "the record is of format {}, this tmpi reads format {}: record the run again, or replay it with the "
        "tmpi that recorded it",
        fixed.version, kRecordVersion)};
  }
  const Failure damaged{"the record's header is damaged; record the run again"};
  if (fixed.ranks == 0 || fixed.ranks > kMostRanks || fixed.nodes == 0 || fixed.nodes > kMostRanks ||
      fixed.text > kMostText)
    return damaged;
  std::string text(fixed.text, '\0');
  if (std::fread(text.data(), 1, text.size(), &file) != text.size()) return damaged;
  RecordHeader header{static_cast<int>(fixed.ranks), static_cast<int>(fixed.nodes), {}, {}};
  std::string_view rest = text;
  for (std::uint32_t i = 0; i < fixed.words; ++i) {
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) return damaged;
    if (i == 0)
      header.coll = rest.substr(0, end);
    else
      header.command.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return header;
}

struct Chunk {
  ChunkHeader header;
  std::string choices;
};

/// Null if there are no more; one that is cut short is filled with zeros.
bool read_chunk(std::FILE& file, Chunk& chunk) {
  char bytes[kChunkSize] = {};
  const std::size_t got = std::fread(bytes, 1, sizeof bytes, &file);
  if (got < sizeof chunk.header) return false;
  memcpy(&chunk.header, bytes, sizeof chunk.header);
  chunk.choices.assign(bytes + sizeof chunk.header, kChunkRoom);
  return true;
}

std::string cannot(const char* what) {
  return fmt::format("cannot {} the file: {}", what, strerror(errno));
}

}  // namespace

std::size_t chunks_begin(const RecordHeader& header) {
  return whole_chunks(sizeof(FixedHeader) + text_of(header).size());
}

Result<void> create_record(const std::string& path, const RecordHeader& header) {
  return write_record(path, {header, {}});
}

Result<RecordHeader> read_record_header(const std::string& path) {
  const File file = open_file(path, "re");
  if (file == nullptr) return Failure{cannot("open")};
  return unpack(*file);
}

Result<Record> read_record(const std::string& path) {
  const File file = open_file(path, "re");
  if (file == nullptr) return Failure{cannot("open")};
  Result<RecordHeader> header = unpack(*file);
  if (!header) return header.failure();
  Record record{*std::move(header), {}};
  if (std::fseek(file.get(), static_cast<long>(chunks_begin(record.header)), SEEK_SET) != 0)
    return Failure{cannot("read")};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> chunks;  // by rank and sequence
  for (Chunk chunk; read_chunk(*file, chunk);) {
    const auto [rank_plus_one, sequence] = chunk.header;
    if (rank_plus_one == 0) continue;
    if (rank_plus_one > kMostRanks ||
        !chunks.emplace(std::pair(rank_plus_one - 1, sequence), chunk.choices).second)
      return Failure{
          "the record is damaged: two parts of it say that they are the same; record the run again"};
  }
  for (auto& [place, choices] : chunks) {
    std::string& all = record.ranks[static_cast<int>(place.first)];
    if (all.size() != place.second * kChunkRoom) {
      return Failure{
          fmt::format("the record is damaged: a part of what rank {} did is missing. Node processes on "
                      "several hosts must write "
                      "to the same file, on a file system that all hosts share; record the run again",
                      place.first)};
    }
    all += choices;
  }
  return record;
}

Result<void> write_record(const std::string& path, const Record& record) {
  const File file = open_file(path, "we");
  if (file == nullptr) return Failure{cannot("write")};
  std::string bytes = packed(record.header);
  for (const auto& [rank, choices] : record.ranks) {
    ChunkHeader header{static_cast<std::uint32_t>(rank + 1), 0};
    for (std::size_t begin = 0; begin < choices.size(); begin += kChunkRoom, ++header.sequence) {
      bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
      bytes += choices.substr(begin, kChunkRoom);
      bytes.resize(whole_chunks(bytes.size()));
    }
  }
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (!written || std::fflush(file.get()) != 0) return Failure{cannot("write")};
  return {};
}

}  // namespace tmpi::replay
