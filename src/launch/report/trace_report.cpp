#include "launch/report/trace_report.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/file_size_limit.hpp"
#include "observe/trace_json.hpp"
#include "observe/trace_otf2.hpp"

namespace tmpi::launch {
namespace {

std::string folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

/// In a folder that has room for the trace; gone with whoever has it open.
std::FILE* file_without_name(const std::string& beside) {
  const std::string folder = folder_of(beside);
  int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {  // a file system that has no such files
    std::string name = folder + "/.tmpi-trace-XXXXXX";
    descriptor = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0) return nullptr;
    unlink(name.c_str());
  }
  return fdopen(descriptor, "w+");
}

/// A file as memory, for as long as it lives.
class Mapping {
 public:
  explicit Mapping(std::FILE* file) {
    if (file == nullptr || std::fflush(file) != 0 || std::fseek(file, 0, SEEK_END) != 0) return;
    const long size = std::ftell(file);
    if (size <= 0) return;
    void* const place =
        mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, fileno(file), 0);
    if (place != MAP_FAILED) bytes_ = {static_cast<const char*>(place), static_cast<std::size_t>(size)};
  }
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

/// As --trace-buffer takes it, rounded up.
std::string buffer_size(std::uint64_t bytes) {
  const std::uint64_t kibibytes = (bytes + 1023) >> 10;
  return kibibytes < 1024 ? fmt::format("{}k", kibibytes) : fmt::format("{}M", (kibibytes + 1023) >> 10);
}

/// Enough for the next run as well, which is never quite the same.
std::string advised_size(std::uint64_t needed) {
  return buffer_size(needed + needed / 2);
}

}  // namespace

Result<TraceReport> TraceReport::prepare(const JobSpec& job) {
  TraceReport report(job);
  const auto refusal = [&](const std::string& why) {
    return Failure{fmt::format("--trace {}: {}", report.path_, why)};
  };
  if (report.path_.empty()) return report;
  if (observe::names_otf2(report.path_)) {
    if (const Result<void> able = observe::can_write_otf2(report.path_); !able)
      return refusal(able.message());
  } else {
    Result<ReportFile> file = ReportFile::open("--trace " + report.path_, report.path_);
    if (!file) return file.failure();
    report.file_ = *std::move(file);
  }
  report.parts_.emplace_back(file_without_name(report.path_));
  if (!report.parts_[0]) {
    return refusal(
        fmt::format("cannot make files in {}, where the node processes' parts lie until the job ends: {}",
                    folder_of(report.path_), strerror(errno)));
  }
  return report;
}

void TraceReport::fail(std::string why) {
  if (!failed_) why_ = std::move(why);
  failed_ = true;
}

void TraceReport::add(int node, std::string_view piece) {
  const UnlimitedFiles unlimited;
  const auto number = static_cast<std::size_t>(node);
  if (number >= parts_.size()) parts_.resize(number + 1);
  OwnedFile& part = parts_[number];
  if (!part) part.reset(file_without_name(path_));
  has_come_ = true;
  if (!part || std::fwrite(piece.data(), 1, piece.size(), part.get()) != piece.size()) fail(strerror(errno));
}

std::vector<std::string> TraceReport::finish(const ReportNodes& nodes) {
  std::vector<std::string> notices;
  if (!has_come_ && nodes.lost && !path_.empty() && !quiet_)
    notices.push_back(missing_parts("trace", nodes.names) + ": there is none in " + path_);
  if (!has_come_) return notices;
  const UnlimitedFiles unlimited;
  parts_.resize(nodes.names.size());
  if (!failed_) write(nodes, notices);
  if (failed_) notices.push_back(fmt::format("--trace {}: the file could not be written: {}", path_, why_));
  return notices;
}

void TraceReport::write(const ReportNodes& nodes, std::vector<std::string>& notices) {
  std::vector<Mapping> mappings;
  std::vector<observe::TracePart> parts;
  std::vector<std::string> missing;
  for (std::size_t node = 0; node < nodes.names.size(); ++node) {
    mappings.emplace_back(parts_[node].get());
    Result<observe::TracePart> part = observe::unpack_trace(mappings.back().bytes());
    if (part) {
      parts.push_back(*std::move(part));
    } else {
      missing.push_back(nodes.names[node]);
    }
  }
  if (!missing.empty() && !quiet_) notices.push_back(missing_parts("trace", missing));
  if (parts.empty()) return;
  const observe::JobTrace trace = observe::join_trace(std::move(parts));
  const bool otf2 = observe::names_otf2(path_);
  if (const Result<void> done = otf2 ? observe::write_trace_otf2(path_, trace) : write_json(trace); !done)
    return fail(done.message());
  const observe::TraceSummary& summary = trace.summary;
  notices.push_back(fmt::format("trace in {}: {} slices, {} messages; open it {}", path_, summary.events,
                                trace.messages.paired.size(),
                                otf2 ? "with Vampir, Cube or otf2-print" : "at https://ui.perfetto.dev"));
  if (summary.dropped > 0 && !quiet_) {
    notices.push_back(
        fmt::format("warning: the trace lacks its {} oldest events, for which --trace-buffer {} had no room; "
                    "with {} it would be "
                    "complete",
                    summary.dropped, buffer_size(buffer_), advised_size(summary.bytes_per_worker_needed)));
  }
}

Result<void> TraceReport::write_json(const observe::JobTrace& trace) {
  Result<void> written = observe::write_trace_json(file_.get(), trace);
  const Result<void> closed = file_.close();
  return written ? closed : written;
}

}  // namespace tmpi::launch
