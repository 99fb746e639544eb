/* SQLite: a database written by all ranks, which keep each other out by record locks; and the library's own settings. */
#include <sqlite3.h>

#include "steps.h"

static sqlite3* database;

static void run(const char* text) {
  char* error = NULL;
  if (sqlite3_exec(database, text, NULL, NULL, &error) != SQLITE_OK)
    check_failed(__FILE__, __LINE__, "%s: %s", text, error);
}

static int number(const char* query) {
  sqlite3_stmt* statement;
  CHECK_EQ(sqlite3_prepare_v2(database, query, -1, &statement, NULL), SQLITE_OK);
  CHECK_EQ(sqlite3_step(statement), SQLITE_ROW);
  int found = sqlite3_column_int(statement, 0);
  CHECK_EQ(sqlite3_finalize(statement), SQLITE_OK);
  return found;
}

static void add_one(int round) {
  char text[200];
  run("BEGIN IMMEDIATE");
  int sum = number("SELECT sum FROM total");
  snprintf(text, sizeof text, "UPDATE total SET sum = %d; INSERT INTO rows VALUES (%d, %d)", sum + 1,
           world_rank, round);
  run(text);
  run("COMMIT");
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  if (world_rank == 0) unlink("sqlite.db");
  next_step();
  sqlite3_soft_heap_limit64(100000000 + world_rank);
  CHECK_EQ(sqlite3_open("sqlite.db", &database), SQLITE_OK);
  sqlite3_busy_timeout(database, 60000);
  if (world_rank == 0)
    run("PRAGMA synchronous = OFF; CREATE TABLE total (sum INTEGER); CREATE TABLE rows (rank INTEGER, round "
        "INTEGER);"
        "INSERT INTO total VALUES (0)");
  next_step();
  run("PRAGMA synchronous = OFF");
  enum { Rounds = 10 };
  for (int round = 0; round < Rounds; round++) {
    add_one(round);
    if (round % 3 == 0) next_step();
  }
  next_step();
  CHECK_EQ(number("SELECT sum FROM total"), world_size * Rounds);
  CHECK_EQ(number("SELECT count(*) FROM rows"), world_size * Rounds);
  next_step();

  /* While one has it, the others do not. */
  if (world_rank == 0) run("BEGIN EXCLUSIVE");
  next_step();
  if (world_rank != 0) {
    sqlite3_busy_timeout(database, 0);
    CHECK_EQ(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_BUSY);
  }
  next_step();
  if (world_rank == 0) run("DELETE FROM rows WHERE round > 0; COMMIT");
  next_step();
  CHECK_EQ(number("SELECT count(*) FROM rows"), world_size);
  CHECK_EQ(number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
  CHECK_EQ(sqlite3_soft_heap_limit64(-1), 100000000 + world_rank);
  CHECK_EQ(sqlite3_close(database), SQLITE_OK);
  next_step();
  if (world_rank == 0) unlink("sqlite.db");
  return end_with(world_rank);
}
