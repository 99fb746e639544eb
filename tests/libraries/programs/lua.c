/* Lua: what a script prints, its environment, its locale and its random numbers. */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>

#include "steps.h"

static int step(lua_State* state) {
  (void)state;
  next_step();
  return 0;
}

static const char script[] =
    "local words = setmetatable({}, {__gc = function() io.write('') end})\n"
    "for i = 1, 300 do\n"
    "  words[#words + 1] = string.format('%d:%s', i * rank, os.getenv('LUA_RANK'))\n"
    "  if i % 60 == 0 then step() end\n"
    "end\n"
    "for i, word in ipairs(words) do assert(word == i * rank .. ':rank ' .. rank) end\n"
    "local ok, message = pcall(function() error('of rank ' .. rank, 0) end)\n"
    "step()\n"
    "assert(not ok and message == 'of rank ' .. rank)\n"
    "local name = os.tmpname()\n"
    "local file = assert(io.open(name, 'w'))\n"
    "file:write('line of ', rank, '\\n')\n"
    "step()\n"
    "file:close()\n"
    "for line in io.lines(name) do assert(line == 'line of ' .. rank) end\n"
    "os.remove(name)\n"
    "io.write('Lua of rank ', rank, '\\n')\n"
    "print('printed by rank ' .. rank)\n"
    "step()\n"
    "math.randomseed(rank)\n"
    "return math.random(1000000)\n";

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char value[32];
  snprintf(value, sizeof value, "rank %d", world_rank);
  setenv("LUA_RANK", value, 1);
  lua_State* state = luaL_newstate();
  luaL_openlibs(state);
  lua_register(state, "step", step);
  lua_pushinteger(state, world_rank);
  lua_setglobal(state, "rank");
  if (luaL_dostring(state, script) != LUA_OK) check_failed(__FILE__, __LINE__, "%s", lua_tostring(state, -1));
  double found = lua_tonumber(state, -1);
  lua_close(state);
  return end_with(found);
}
