// Unix sockets in the user's directory of jobs: who is at the other end is a process of the same user, by the kernel's word;
// others are not heard. They are found by way of the directory's descriptor, however long its own path is, and whatever is
// put in its place. None waits for another process, but for what is said over them where that is asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace tmpi::launch {

/// Listens at `file` of the directory. None: errno says why.
Fd listen_at(const Fd& directory, const std::string& file);

/// The next who has connected. None: nobody any more.
Fd accept_own(const Fd& listener) noexcept;

enum class Waiting : unsigned char { kNever, kForData };
/// Connects to whoever listens at `file`; of what is said over it afterwards, `waiting` says whether it is waited for.
/// None: errno; ECONNREFUSED: nobody listens there any more.
Fd connect_to(const Fd& directory, const std::string& file, Waiting waiting);

/// What there is in the directory, by name.
std::vector<std::string> files_in(const Fd& directory);

}  // namespace tmpi::launch
