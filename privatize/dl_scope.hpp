// Where dlsym searches for a rank, and the libraries a rank has opened with dlopen.
#pragma once

#include <string>
#include <vector>

#include "privatize/rank_state.hpp"

namespace tmpi::privatize {

/// The rank whose image the caller's code lies in, else the calling thread's rank; null outside of ranks.
RankState* calling_rank(const void* caller) noexcept;

/// What dlopen with RTLD_GLOBAL has put behind the program's scope, in search order.
std::vector<const Object*> opened_globally(const RankState& state);

/// The library itself and its private dependencies, breadth first.
std::vector<const Object*> library_scope(const OpenedLibrary& library);

/// True of what dlopen(NULL) has given out.
bool is_program(const RankState& state, const void* handle) noexcept;

/// The library behind a handle given out by dlopen, or null if it is none of this rank's.
OpenedLibrary* as_opened(RankState& state, void* handle) noexcept;

/// Drops the libraries that ranks of this program have opened, before the program itself goes.
void forget_opened(const ImageSet& program);

void set_dl_error(RankState& state, std::string text);
/// Takes over what libc has to say of its own call that has just failed: it keeps that per thread, and the thread runs
/// other ranks before this one asks.
void keep_dl_error(RankState& state) noexcept;
/// The same when there is no memory for a text.
void set_dl_error_no_memory(RankState& state) noexcept;

}  // namespace tmpi::privatize
