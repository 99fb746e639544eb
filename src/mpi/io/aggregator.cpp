#include <algorithm>
#include <cstring>

#include "mpi/io/exclusion.hpp"
#include "mpi/io/io_error.hpp"
#include "mpi/io/limits.hpp"
#include "mpi/io/two_phase.hpp"

namespace tmpi::mpi {
namespace {

MPI_Count bytes_of(const std::vector<Piece>& pieces) noexcept {
  MPI_Count bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.length;
  return bytes;
}

}  // namespace

Aggregator::Aggregator(const Collection& all, const std::vector<Contribution>& parts, Transfer transfer,
                       MPI_Count window)
    : all_(all),
      gathers_(true),
      room_(window),
      staging_(all.file.staging()),
      around_(all.file.staging()),
      coverage_(transfer == Transfer::kWrite ? window : 0),
      eof_(kToTheEnd) {
  const NodeMap& map = *all.file.map;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (parts[rank].bytes == 0) continue;
    gathers_ = gathers_ && parts[rank].large_runs;
    if (map.node_of(static_cast<int>(rank)) == map.mine()) sources_.emplace_back(*parts[rank].access);
  }
}

void Aggregator::failed(const char* doing, MPI_Count bytes, const IoResult& result) {
  if (error_) return;
  error_ = transfer_failed(doing, all_.file.path(), bytes, result);
  explanation_ = take_explanation();
}

bool Aggregator::has_nothing(FileRange window, const std::vector<RunList>& lists) {
  return std::all_of(lists.begin(), lists.end(), [](const RunList& list) { return list.header.runs == 0; }) &&
         std::all_of(sources_.begin(), sources_.end(),
                     [&](Source& source) { return source.next_offset(window.begin) >= window.end; });
}

void Aggregator::write(FileRange window, std::vector<RunList>& lists) {
  if (has_nothing(window, lists)) return;
  pieces_.clear();
  if (!gathers_) {
    staging_.need(room_);
    coverage_.clear(window.end - window.begin);
  }
  for (Source& source : sources_) {
    const Memory& memory = source.access().memory;
    source.in_window(window, [&](MPI_Offset offset, MPI_Count length, MPI_Count position) {
      if (gathers_) {
        pieces_.push_back({offset, length, memory.direct(position)});
      } else {
        memory.gather(staged(window, offset), position, length);
        coverage_.add(offset - window.begin, length);
      }
    });
  }
  for (RunList& list : lists) {
    std::byte* data = list.data();
    for (MPI_Count i = 0; i < list.header.runs; ++i) {
      const RunList::Run& run = list.runs()[i];
      if (gathers_) {
        pieces_.push_back({run.offset, run.length, data});
      } else {
        std::memcpy(staged(window, run.offset), data, static_cast<std::size_t>(run.length));
        coverage_.add(run.offset - window.begin, run.length);
      }
      data += run.length;
    }
  }
  if (error_) return;
  if (gathers_) {
    write_gathered();
  } else {
    write_staged(window);
  }
}

// From where the members have them. Of bytes that several write, any may stay (MPI report, 14.6.1).
void Aggregator::write_gathered() {
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
  MPI_Offset end = 0;
  for (Piece& piece : pieces_) {
    const MPI_Count written = std::clamp<MPI_Count>(end - piece.offset, 0, piece.length);
    piece = {piece.offset + written, piece.length - written, piece.data + written};
    end = std::max(end, piece.offset + piece.length);
  }
  std::erase_if(pieces_, [](const Piece& piece) { return piece.length == 0; });
  if (pieces_.empty()) return;
  const Exclusion exclusion(all_.file, writes_lock(all_.manner.hints), pieces_.front().offset, end,
                            RangeLocks::Mode::kShared, true);
  IoResult result{.error = exclusion.error(), .where = pieces_.front().offset};
  const MPI_Count bytes = bytes_of(pieces_);
  if (result.error == 0) result = all_.file.write(pieces_, bytes);
  if (result.error != 0) failed("writing", bytes, result);
}

void Aggregator::write_staged(FileRange window) {
  const MPI_Count room = window.end - window.begin;
  const MPI_Count first = coverage_.find(0, room, true);
  MPI_Count last = first;  // end of the data
  for (MPI_Count at = first; at < room;) {
    last = coverage_.find(at, room, false);
    pieces_.push_back({window.begin + at, last - at, staging_.data() + at});
    at = coverage_.find(last, room, true);
  }
  if (pieces_.empty()) return;
  const auto runs = static_cast<MPI_Count>(pieces_.size());
  const bool forced = all_.manner.hints.ds_write == Choice::kEnable;
  const bool fills = runs > 1 && may_sieve_writes(all_.manner.hints) && all_.file.readable() &&
                     (forced || (last - first) / runs <= kCloseHoles);
  const Exclusion exclusion(all_.file, writes_lock(all_.manner.hints), window.begin + first,
                            window.begin + last,
                            fills ? RangeLocks::Mode::kExclusive : RangeLocks::Mode::kShared, true);
  IoResult result{.error = exclusion.error(), .where = window.begin + first};
  if (fills && result.error == 0) fill_holes(window, window.begin + first, window.begin + last);
  const MPI_Count bytes = bytes_of(pieces_);
  if (result.error == 0 && !error_) result = all_.file.write(pieces_, bytes);
  if (result.error != 0) failed("writing", bytes, result);
}

// What the file has between the data, so that all becomes one piece.
void Aggregator::fill_holes(FileRange window, MPI_Offset begin, MPI_Offset end) {
  around_.need(room_);
  const Piece whole{begin, end - begin, around_.data()};
  const IoResult result = all_.file.read({&whole, 1}, whole.length);
  if (result.error != 0) return failed("reading", whole.length, result);
  std::memset(around_.data() + result.bytes, 0, static_cast<std::size_t>(whole.length - result.bytes));
  for (std::size_t i = 0; i + 1 < pieces_.size(); ++i) {
    const MPI_Offset hole = pieces_[i].offset + pieces_[i].length;
    std::memcpy(staged(window, hole), around_.data() + (hole - begin),
                static_cast<std::size_t>(pieces_[i + 1].offset - hole));
  }
  pieces_ = {{begin, end - begin, staged(window, begin)}};
}

void Aggregator::read(FileRange window, std::vector<RunList>& lists) {
  if (has_nothing(window, lists)) return;
  pieces_.clear();
  if (gathers_) {
    for (Source& source : sources_) {
      source.in_window(window, [&](MPI_Offset offset, MPI_Count length, MPI_Count position) {
        pieces_.push_back({offset, length, source.access().memory.direct(position)});
      });
    }
    for (RunList& list : lists) {
      std::byte* data = list.data();
      for (MPI_Count i = 0; i < list.header.runs; data += list.runs()[i++].length)
        pieces_.push_back({list.runs()[i].offset, list.runs()[i].length, data});
    }
    if (!error_) read_gathered();
    return;
  }
  staging_.need(room_);
  const FileRange there = error_ ? FileRange{window.begin, window.begin} : read_staged(window, lists);
  const auto available = [&](MPI_Offset offset, MPI_Count length) {
    return std::clamp<MPI_Count>(there.end - offset, 0, length);
  };
  for (Source& source : sources_) {
    const Memory& memory = source.access().memory;
    source.in_window(window, [&](MPI_Offset offset, MPI_Count length, MPI_Count position) {
      const MPI_Count bytes = available(offset, length);
      if (bytes > 0) memory.scatter(staged(window, offset), position, bytes);
    });
  }
  for (RunList& list : lists) {
    std::byte* data = list.data();
    for (MPI_Count i = 0; i < list.header.runs; data += list.runs()[i++].length) {
      const RunList::Run& run = list.runs()[i];
      std::memcpy(data, staged(window, run.offset),
                  static_cast<std::size_t>(available(run.offset, run.length)));
    }
  }
}

// Several may want the same bytes, so the file's end does not end the list: once it is known, all is read that lies
// before it. It may come nearer meanwhile.
void Aggregator::read_gathered() {
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
  for (;;) {
    const MPI_Count bytes = bytes_of(pieces_);
    if (bytes == 0) return;
    const IoResult result = all_.file.read(pieces_, bytes);
    if (result.error != 0) return failed("reading", bytes, result);
    if (result.bytes == bytes) return;
    eof_ = std::min(eof_, std::max(result.where, result.bytes == 0 ? pieces_.front().offset : result.where));
    for (Piece& piece : pieces_) piece.length = std::clamp<MPI_Count>(eof_ - piece.offset, 0, piece.length);
    std::erase_if(pieces_, [](const Piece& piece) { return piece.length == 0; });
  }
}

// Everything from the first to the last byte that somebody wants; what the file has of it.
FileRange Aggregator::read_staged(FileRange window, const std::vector<RunList>& lists) {
  FileRange wanted{window.end, window.begin};
  for (Source& source : sources_) {
    const MPI_Offset next = source.next_offset(window.begin);
    if (next >= window.end) continue;
    wanted.begin = std::min(wanted.begin, next);
    wanted.end = std::max(wanted.end, std::min(window.end, source.access().end_offset()));
  }
  for (const RunList& list : lists) {
    if (list.header.runs == 0) continue;
    const RunList::Run& last = list.runs()[list.header.runs - 1];
    wanted.begin = std::min(wanted.begin, list.runs()[0].offset);
    wanted.end = std::max(wanted.end, last.offset + last.length);
  }
  if (wanted.empty()) return {window.begin, window.begin};
  const Piece whole{wanted.begin, wanted.end - wanted.begin, staged(window, wanted.begin)};
  const IoResult result = all_.file.read({&whole, 1}, whole.length);
  if (result.error != 0) failed("reading", whole.length, result);
  const MPI_Offset end = wanted.begin + result.bytes;
  if (end < wanted.end) eof_ = std::min(eof_, end);
  return {wanted.begin, end};
}

}  // namespace tmpi::mpi
