/* A tool that wraps functions as GOTCHA does: it goes through the objects of the process from _r_debug, finds the
 * function that is meant in their tables of symbols, and writes its wrapper into every table of addresses (GOT). Odd
 * ranks wrap sin() and MPI_Barrier(), which the program calls, and sin() also Lua for it; even ranks wrap nothing, and
 * nothing of the others must show there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "steps.h"

struct tables {
  const Elf64_Sym* symbols;
  const char* strings;
  const Elf64_Rela *relocations, *calls;
  size_t relocation_bytes, call_bytes;
  const uint32_t *hash, *gnu_hash;
};

static struct tables tables_of(const struct link_map* map) {
  struct tables found = {0};
  for (const Elf64_Dyn* entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    const void* at = (const void*)entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        found.symbols = at;
        break;
      case DT_STRTAB:
        found.strings = at;
        break;
      case DT_RELA:
        found.relocations = at;
        break;
      case DT_RELASZ:
        found.relocation_bytes = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        found.calls = at;
        break;
      case DT_PLTRELSZ:
        found.call_bytes = entry->d_un.d_val;
        break;
      case DT_HASH:
        found.hash = at;
        break;
      case DT_GNU_HASH:
        found.gnu_hash = at;
        break;
    }
  }
  return found;
}

/* Of the kinds of hash tables in turn; 0: not defined here. */
static size_t symbol_of(const struct tables* in, const char* name) {
  if (in->hash != NULL) {
    uint32_t hash = 0;
    for (const char* at = name; *at != '\0'; at++) {
      hash = (hash << 4) + (unsigned char)*at;
      hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    for (uint32_t i = in->hash[2 + hash % in->hash[0]]; i != 0; i = in->hash[2 + in->hash[0] + i]) {
      if (strcmp(in->strings + in->symbols[i].st_name, name) == 0 && in->symbols[i].st_shndx != SHN_UNDEF)
        return i;
    }
  }
  if (in->gnu_hash == NULL || in->gnu_hash[0] == 0) return 0;
  uint32_t hash = 5381;
  for (const char* at = name; *at != '\0'; at++) hash = hash * 33 + (unsigned char)*at;
  const uint32_t* buckets = in->gnu_hash + 4 + in->gnu_hash[2] * 2;
  const uint32_t* chain = buckets + in->gnu_hash[0];
  uint32_t i = buckets[hash % in->gnu_hash[0]];
  for (; i != 0; i++) {
    const uint32_t of = chain[i - in->gnu_hash[1]];
    if ((of | 1) == (hash | 1) && strcmp(in->strings + in->symbols[i].st_name, name) == 0) return i;
    if (of & 1) return 0;
  }
  return 0;
}

static void* definition(const char* name) {
  for (const struct link_map* map = _r_debug.r_map; map != NULL; map = map->l_next) {
    if (strstr(map->l_name, "vdso") != NULL) continue;
    const struct tables in = tables_of(map);
    const size_t found = symbol_of(&in, name);
    if (found == 0) continue;
    void* address = (void*)(map->l_addr + in.symbols[found].st_value);
    if (ELF64_ST_TYPE(in.symbols[found].st_info) == STT_GNU_IFUNC) address = ((void* (*)(void))address)();
    return address;
  }
  return NULL;
}

static void put(const struct link_map* map, const struct tables* in, const Elf64_Rela* first, size_t bytes,
                const char* name, void* wrapper) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (size_t i = 0; i < bytes / sizeof *first; i++) {
    const uint32_t symbol = (uint32_t)ELF64_R_SYM(first[i].r_info);
    const uint32_t kind = (uint32_t)ELF64_R_TYPE(first[i].r_info);
    if ((kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) ||
        strcmp(in->strings + in->symbols[symbol].st_name, name) != 0)
      continue;
    void** slot = (void**)(map->l_addr + first[i].r_offset);
    CHECK_EQ(mprotect((void*)((uintptr_t)slot & ~(page - 1)), page, PROT_READ | PROT_WRITE), 0);
    *slot = wrapper;
  }
}

static void* wrap(const char* name, void* wrapper) {
  void* const meant = definition(name);
  for (const struct link_map* map = _r_debug.r_map; map != NULL; map = map->l_next) {
    const struct tables in = tables_of(map);
    put(map, &in, in.relocations, in.relocation_bytes, name, wrapper);
    put(map, &in, in.calls, in.call_bytes, name, wrapper);
  }
  return meant;
}

static double (*real_sin)(double);
static int (*real_barrier)(MPI_Comm);
static int sines, barriers;

static double counted_sin(double x) {
  sines++;
  return real_sin(x);
}

static int counted_barrier(MPI_Comm communicator) {
  barriers++;
  return real_barrier(communicator);
}

static double by_lua(double x) {
  lua_State* state = luaL_newstate();
  luaL_openlibs(state);
  char text[64];
  snprintf(text, sizeof text, "return math.sin(%.17g)", x);
  CHECK_EQ(luaL_dostring(state, text), LUA_OK);
  const double found = lua_tonumber(state, -1);
  lua_close(state);
  return found;
}

static int is_there(const char* part) {
  for (const struct link_map* map = _r_debug.r_map; map != NULL; map = map->l_next) {
    if (strstr(map->l_name, part) != NULL) return 1;
  }
  return 0;
}

/* A handle of dlopen is a link_map, and one of the list. */
static void look_at_handles(void) {
  struct link_map* program = dlopen(NULL, RTLD_LAZY);
  struct link_map* asked = NULL;
  CHECK(program == _r_debug.r_map && program->l_name[0] == '\0' && program->l_prev == NULL);
  CHECK(dlinfo(program, RTLD_DI_LINKMAP, &asked) == 0 && asked == program);
  struct link_map* lua = dlopen("liblua5.4.so.0", RTLD_LAZY);
  CHECK(lua != NULL && strstr(lua->l_name, "liblua5.4") != NULL);
  const struct tables in = tables_of(lua);
  CHECK((char*)lua->l_addr + in.symbols[symbol_of(&in, "lua_close")].st_value ==
        (char*)dlsym(lua, "lua_close"));
  CHECK(!is_there("libgmp.so"));
  struct link_map* gmp = dlopen("libgmp.so.10", RTLD_NOW);
  CHECK(gmp != NULL && is_there("libgmp.so"));
  Dl_info info;
  struct link_map* of_gmp = NULL;
  CHECK(dladdr1(dlsym(gmp, "__gmpz_init"), &info, (void**)&of_gmp, RTLD_DL_LINKMAP) != 0 && of_gmp == gmp);
  CHECK(gmp->l_prev != NULL && gmp->l_prev->l_next == gmp && dlclose(gmp) == 0 && dlclose(lua) == 0);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  look_at_handles();
  const int wraps = world_rank % 2;
  volatile double x = 0.25 + world_rank;
  if (wraps) {
    real_sin = (double (*)(double))wrap("sin", (void*)counted_sin);
    real_barrier = (int (*)(MPI_Comm))wrap("MPI_Barrier", (void*)counted_barrier);
    CHECK(real_sin != NULL && real_barrier != NULL);
  }
  double sum = 0;
  for (int round = 1; round <= 3; round++) {
    next_step();
    sum += sin(x) + by_lua(x);
    CHECK_EQ(sines, wraps ? 2 * round : 0);
    CHECK_EQ(barriers, wraps ? round : 0);
  }
  CHECK_NEAR(sum, 6 * sin(x), 1e-12);
  return end_with(sines * 100 + barriers + sum);
}
