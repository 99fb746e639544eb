// Users, groups, hosts and what else libc looks up in databases: the answer is the rank's, and so is the position of who
// goes through one entry by entry. All over the _r functions.
#include <aliases.h>
#include <errno.h>
#include <grp.h>
#include <gshadow.h>
#include <mntent.h>
#include <netdb.h>
#include <pwd.h>
#include <shadow.h>
#include <stdio.h>
#include <stdlib.h>

#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/shim.h"

namespace tmpi::shim {
namespace {

/// An entry, and the strings that it points to. Takes memory when it is first filled.
template <class Entry>
class Answer {
 public:
  /// `look_up(entry, text, size, found)` as of getpwnam_r, again with more room as long as it asks for it. Null: there
  /// is no such entry, or errno says why not.
  template <class LookUp>
  Entry* fill(LookUp look_up) noexcept {
    for (size_t wanted = kFirstSize;; wanted = 2 * size_) {
      if (wanted > size_ && !grow(wanted)) return nullptr;
      Entry* found = nullptr;
      const int error = look_up(&block_->entry, block_->text, size_, &found);
      if (error == ERANGE) continue;
      if (error != 0 && error != ENOENT) errno = error;
      return error == 0 ? found : nullptr;
    }
  }

 private:
  static constexpr size_t kFirstSize = 1024;
  struct Block {
    Entry entry;
    char text[];
  };

  bool grow(size_t size) noexcept {
    free(block_);
    block_ = static_cast<Block*>(malloc(sizeof(Block) + size));
    size_ = block_ != nullptr ? size : 0;
    return block_ != nullptr;
  }

  Block* block_ = nullptr;
  size_t size_ = 0;
};

/// A database that can be gone through. libc has one position in it for the process; the node process takes it to the
/// rank's (tmpi_shim_next_entry).
/// `kRewind`: libc's setpwent. No member, which would be an address to write at each rank's start.
template <class Entry, TmpiDatabase kNumber, void (*kRewind)()>
struct Database {
  long position = 0;
  Answer<Entry> named{};  // found by a key
  Answer<Entry> next{};   // come to

  /// `get`: a getpwent_r, without arguments.
  template <class Get>
  int advance(Get get) noexcept {
    auto call = [](void* context) { return (*static_cast<Get*>(context))(); };
    const int error = tmpi_shim_next_entry(tmpi_image_rank, kNumber, position, kRewind, call, &get);
    if (error == 0) ++position;
    return error;
  }
  void begin() noexcept { position = 0; }
};

Database<passwd, TMPI_USERS, [] { tmpi_libc.setpwent(); }> users;
Database<group, TMPI_GROUPS, [] { tmpi_libc.setgrent(); }> groups;
Database<spwd, TMPI_SHADOW, [] { tmpi_libc.setspent(); }> shadow;
Database<sgrp, TMPI_GROUP_SHADOW, [] { tmpi_libc.setsgent(); }> group_shadow;
Database<hostent, TMPI_HOSTS, [] { tmpi_libc.sethostent(1); }> hosts;
Database<netent, TMPI_NETS, [] { tmpi_libc.setnetent(1); }> nets;
Database<servent, TMPI_PORTS, [] { tmpi_libc.setservent(1); }> ports;
Database<protoent, TMPI_PROTOCOLS, [] { tmpi_libc.setprotoent(1); }> protocols;
Database<rpcent, TMPI_PROGRAMS, [] { tmpi_libc.setrpcent(1); }> programs;
Database<aliasent, TMPI_ALIASES, [] { tmpi_libc.setaliasent(); }> aliases;
Answer<mntent> mount;

}  // namespace

extern "C" {

// ---- By a key ----

passwd* getpwnam(const char* name) {
  return users.named.fill([=](auto... room) { return tmpi_libc.getpwnam_r(name, room...); });
}
passwd* getpwuid(uid_t id) {
  return users.named.fill([=](auto... room) { return tmpi_libc.getpwuid_r(id, room...); });
}
passwd* fgetpwent(FILE* file) {
  return users.named.fill([=](auto... room) { return tmpi_libc.fgetpwent_r(file, room...); });
}
group* getgrnam(const char* name) {
  return groups.named.fill([=](auto... room) { return tmpi_libc.getgrnam_r(name, room...); });
}
group* getgrgid(gid_t id) {
  return groups.named.fill([=](auto... room) { return tmpi_libc.getgrgid_r(id, room...); });
}
group* fgetgrent(FILE* file) {
  return groups.named.fill([=](auto... room) { return tmpi_libc.fgetgrent_r(file, room...); });
}
spwd* getspnam(const char* name) {
  return shadow.named.fill([=](auto... room) { return tmpi_libc.getspnam_r(name, room...); });
}
spwd* fgetspent(FILE* file) {
  return shadow.named.fill([=](auto... room) { return tmpi_libc.fgetspent_r(file, room...); });
}
spwd* sgetspent(const char* line) {
  return shadow.named.fill([=](auto... room) { return tmpi_libc.sgetspent_r(line, room...); });
}
sgrp* getsgnam(const char* name) {
  return group_shadow.named.fill([=](auto... room) { return tmpi_libc.getsgnam_r(name, room...); });
}
sgrp* fgetsgent(FILE* file) {
  return group_shadow.named.fill([=](auto... room) { return tmpi_libc.fgetsgent_r(file, room...); });
}
sgrp* sgetsgent(const char* line) {
  return group_shadow.named.fill([=](auto... room) { return tmpi_libc.sgetsgent_r(line, room...); });
}
hostent* gethostbyname(const char* name) {
  return hosts.named.fill(
      [=](auto... room) { return tmpi_libc.gethostbyname_r(name, room..., tmpi_libc.__h_errno_location()); });
}
hostent* gethostbyname2(const char* name, int family) {
  return hosts.named.fill([=](auto... room) {
    return tmpi_libc.gethostbyname2_r(name, family, room..., tmpi_libc.__h_errno_location());
  });
}
hostent* gethostbyaddr(const void* address, socklen_t length, int family) {
  return hosts.named.fill([=](auto... room) {
    return tmpi_libc.gethostbyaddr_r(address, length, family, room..., tmpi_libc.__h_errno_location());
  });
}
netent* getnetbyname(const char* name) {
  return nets.named.fill(
      [=](auto... room) { return tmpi_libc.getnetbyname_r(name, room..., tmpi_libc.__h_errno_location()); });
}
netent* getnetbyaddr(uint32_t net, int family) {
  return nets.named.fill([=](auto... room) {
    return tmpi_libc.getnetbyaddr_r(net, family, room..., tmpi_libc.__h_errno_location());
  });
}
servent* getservbyname(const char* name, const char* protocol) {
  return ports.named.fill([=](auto... room) { return tmpi_libc.getservbyname_r(name, protocol, room...); });
}
servent* getservbyport(int port, const char* protocol) {
  return ports.named.fill([=](auto... room) { return tmpi_libc.getservbyport_r(port, protocol, room...); });
}
protoent* getprotobyname(const char* name) {
  return protocols.named.fill([=](auto... room) { return tmpi_libc.getprotobyname_r(name, room...); });
}
protoent* getprotobynumber(int number) {
  return protocols.named.fill([=](auto... room) { return tmpi_libc.getprotobynumber_r(number, room...); });
}
rpcent* getrpcbyname(const char* name) noexcept {
  return programs.named.fill([=](auto... room) { return tmpi_libc.getrpcbyname_r(name, room...); });
}
rpcent* getrpcbynumber(int number) noexcept {
  return programs.named.fill([=](auto... room) { return tmpi_libc.getrpcbynumber_r(number, room...); });
}
aliasent* getaliasbyname(const char* name) noexcept {
  return aliases.named.fill([=](auto... room) { return tmpi_libc.getaliasbyname_r(name, room...); });
}

// ---- One after another ----

// The four functions of a database: from its first entry, the next one in the rank's memory and in the caller's, done
// with it. `more`: what the one in the caller's memory has as a last argument.
#define TMPI_WALK(database, Entry, set, set_arguments, get, end, ...)                                 \
  void set set_arguments {                                                                            \
    database.begin();                                                                                 \
  }                                                                                                   \
  void end() {                                                                                        \
    database.begin();                                                                                 \
  }                                                                                                   \
  Entry* get() {                                                                                      \
    return database.next.fill([](auto... room) {                                                      \
      return database.advance([=] { return tmpi_libc.get##_r(room... __VA_OPT__(, ) __VA_ARGS__); }); \
    });                                                                                               \
  }

TMPI_WALK(users, passwd, setpwent, (), getpwent, endpwent)
TMPI_WALK(groups, group, setgrent, (), getgrent, endgrent)
TMPI_WALK(shadow, spwd, setspent, (), getspent, endspent)
TMPI_WALK(group_shadow, sgrp, setsgent, (), getsgent, endsgent)
TMPI_WALK(hosts, hostent, sethostent, (int), gethostent, endhostent, tmpi_libc.__h_errno_location())
TMPI_WALK(nets, netent, setnetent, (int), getnetent, endnetent, tmpi_libc.__h_errno_location())
TMPI_WALK(ports, servent, setservent, (int), getservent, endservent)
TMPI_WALK(protocols, protoent, setprotoent, (int), getprotoent, endprotoent)
#undef TMPI_WALK

// These promise not to throw.
void setrpcent(int) noexcept {
  programs.begin();
}
void endrpcent() noexcept {
  programs.begin();
}
rpcent* getrpcent() noexcept {
  return programs.next.fill(
      [](auto... room) { return programs.advance([=] { return tmpi_libc.getrpcent_r(room...); }); });
}
void setaliasent() noexcept {
  aliases.begin();
}
void endaliasent() noexcept {
  aliases.begin();
}
aliasent* getaliasent() noexcept {
  return aliases.next.fill(
      [](auto... room) { return aliases.advance([=] { return tmpi_libc.getaliasent_r(room...); }); });
}

int getpwent_r(passwd* entry, char* text, size_t size, passwd** found) {
  return users.advance([=] { return tmpi_libc.getpwent_r(entry, text, size, found); });
}
int getgrent_r(group* entry, char* text, size_t size, group** found) {
  return groups.advance([=] { return tmpi_libc.getgrent_r(entry, text, size, found); });
}
int getspent_r(spwd* entry, char* text, size_t size, spwd** found) {
  return shadow.advance([=] { return tmpi_libc.getspent_r(entry, text, size, found); });
}
int getsgent_r(sgrp* entry, char* text, size_t size, sgrp** found) {
  return group_shadow.advance([=] { return tmpi_libc.getsgent_r(entry, text, size, found); });
}
int gethostent_r(hostent* entry, char* text, size_t size, hostent** found, int* error) {
  return hosts.advance([=] { return tmpi_libc.gethostent_r(entry, text, size, found, error); });
}
int getnetent_r(netent* entry, char* text, size_t size, netent** found, int* error) {
  return nets.advance([=] { return tmpi_libc.getnetent_r(entry, text, size, found, error); });
}
int getservent_r(servent* entry, char* text, size_t size, servent** found) {
  return ports.advance([=] { return tmpi_libc.getservent_r(entry, text, size, found); });
}
int getprotoent_r(protoent* entry, char* text, size_t size, protoent** found) {
  return protocols.advance([=] { return tmpi_libc.getprotoent_r(entry, text, size, found); });
}
int getrpcent_r(rpcent* entry, char* text, size_t size, rpcent** found) noexcept {
  return programs.advance([=] { return tmpi_libc.getrpcent_r(entry, text, size, found); });
}
int getaliasent_r(aliasent* entry, char* text, size_t size, aliasent** found) noexcept {
  return aliases.advance([=] { return tmpi_libc.getaliasent_r(entry, text, size, found); });
}

// Its position is the stream's.
mntent* getmntent(FILE* file) noexcept {
  return mount.fill([=](mntent* entry, char* text, size_t size, mntent** found) {
    *found = tmpi_libc.getmntent_r(file, entry, text, static_cast<int>(size));
    return 0;
  });
}

}  // extern "C"

}  // namespace tmpi::shim
