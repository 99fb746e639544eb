// The file of --record: a header that tmpirun writes, and chunks of a page, each with choices of one rank. Every node process
// takes chunks of its own, so that all can write into the same file without asking each other, and has them mapped, so that
// whatever ends it leaves what was recorded. tmpirun and node processes; does not suspend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::replay {

inline constexpr std::size_t kChunkSize = 4096;
inline constexpr std::uint32_t kRecordVersion = 1;

/// Begins a chunk; zeros: it is nobody's.
struct ChunkHeader {
  std::uint32_t rank_plus_one = 0;
  std::uint32_t sequence = 0;  ///< among the rank's, from 0 on
};
static_assert(sizeof(ChunkHeader) == 8);
inline constexpr std::size_t kChunkRoom = kChunkSize - sizeof(ChunkHeader);

/// What was run, and how.
struct RecordHeader {
  int ranks = 0;
  int nodes = 1;                     ///< node processes: the number of one is that of its first chunk
  std::string coll;                  ///< --coll of the run
  std::vector<std::string> command;  ///< programs and arguments, ":" between programs
};

struct Record {
  RecordHeader header;
  std::map<int, std::string> ranks;  ///< choices as they were written (choice.hpp), by world rank
};

/// Makes the file, without chunks. Failure: it cannot be written.
Result<void> create_record(const std::string& path, const RecordHeader& header);

/// Failure: it cannot be read, is no record, or is damaged: a sentence without the file's name.
Result<RecordHeader> read_record_header(const std::string& path);
Result<Record> read_record(const std::string& path);

/// A record made by hand: for tests, and for runs that are to go another way. Failure: it cannot be written.
Result<void> write_record(const std::string& path, const Record& record);

/// Where the chunks of a file with this header begin.
std::size_t chunks_begin(const RecordHeader& header);

}  // namespace tmpi::replay
