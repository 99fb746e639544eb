// Attachment: node processes that somebody else has started (a PMIx server, Slurm) and that have connected
// already. The program that has gathered them (tmpi-pmix, tmpi-slurm) becomes tmpirun and hands them over:
// the sockets stay open across exec, a text in the environment says what they are, and the job's key is in a pipe.
//
//     mpirun -n 2 tmpi-node [options] ./app               tmpirun [options] ./app   (in an allocation)
//        |                    |                                |
//     tmpi-node = tmpi-pmix  tmpi-node = tmpi-pmix           tmpi-slurm ----> srun ----> tmpi-slurm --node
//        |     <-- connects --|                                |     <---- connects -------|
//     tmpirun                tmpi-node                       tmpirun                     tmpi-node
//        |
//     tmpi-node (a child)
//
// From there on nothing differs from node processes that tmpirun has started itself.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "net/secret.hpp"

namespace tmpi::launch {

struct AttachedNode {
  std::string host;
  int channel = -1;  ///< a connected socket; -1: this node process is tmpirun's to start, on this machine
  int slots = 1;     ///< its part of the job
};

struct Attachment {
  pid_t child = -1;                 ///< tmpirun's child that has started the node processes (srun), -1: none
  int output = -1;                  ///< a pipe behind that child's stdout, -1: none
  int key_pipe = -1;                ///< put_key(); take_attachment() makes `key` of it
  std::optional<net::JobKey> key;   ///< which the node processes have already
  std::vector<AttachedNode> nodes;  ///< by number

  int slots() const;
};

/// The environment variable.
inline constexpr const char* kAttachmentVariable = "TMPI_ATTACHED";

std::string to_text(const Attachment& attachment);
Result<Attachment> attachment_from_text(std::string_view text);

/// What this process was handed, nothing if `nodes` is empty; its descendants will not see it. Once.
Result<Attachment> take_attachment();

/// If a launcher has started this process together with the others, a descriptor that becomes readable when
/// the launcher is gone, closed on exec; else none.
Fd watch_starter(const Attachment& attachment);

/// The job is over: waits for attachment.child, and ends it if it does not end by itself.
void release(const Attachment& attachment);

}  // namespace tmpi::launch
