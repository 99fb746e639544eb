// A job's key on its way through exec, from the program that has gathered node processes to the one that it becomes:
// in a pipe, where only this process's descendants can read it, and only once. (Arguments and environment can be read
// by everybody, or by all processes of the user, for as long as the program runs.)
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "net/secret.hpp"

namespace tmpi::launch {

/// The reading end of a pipe with the key in it, open across exec.
Result<Fd> put_key(const net::JobKey& key);
/// Takes the key out of it.
Result<net::JobKey> take_key(Fd pipe);

}  // namespace tmpi::launch
