/* Tcl: interpreters, channels, the notifier, the array env and exit handlers belong to a thread or to the process. */
#include <tcl.h>

#include "steps.h"

static int step(ClientData data, Tcl_Interp* interpreter, int count, Tcl_Obj* const words[]) {
  (void)data, (void)interpreter, (void)count, (void)words;
  next_step();
  return TCL_OK;
}

static const char script[] =
    "set env(TCL_RANK) \"rank $rank\"\n"
    "step\n"
    "if {$env(TCL_RANK) ne \"rank $rank\"} {error \"environment of $env(TCL_RANK)\"}\n"
    "set channel [open tcl_$rank.txt w]\n"
    "for {set i 0} {$i < 200} {incr i} {\n"
    "  puts $channel \"line $i of $rank\"\n"
    "  if {$i % 50 == 0} step\n"
    "}\n"
    "close $channel\n"
    "step\n"
    "set channel [open tcl_$rank.txt r]\n"
    "set lines [split [string trim [read $channel]] \\n]\n"
    "close $channel\n"
    "file delete tcl_$rank.txt\n"
    "if {[llength $lines] != 200 || [lindex $lines 199] ne \"line 199 of $rank\"} {error [lindex $lines "
    "end]}\n"
    "set fired 0\n"
    "after 10 {set fired 1}\n"
    "step\n"
    "vwait fired\n"
    "step\n"
    "puts \"Tcl of rank $rank\"\n"
    "flush stdout\n"
    "step\n"
    "expr {srand(1 + $rank)}\n"
    "step\n"
    "expr {rand()}\n";

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  Tcl_FindExecutable(argv[0]);
  Tcl_Interp* interpreter = Tcl_CreateInterp();
  Tcl_CreateObjCommand(interpreter, "step", step, NULL, NULL);
  Tcl_SetVar2Ex(interpreter, "rank", NULL, Tcl_NewIntObj(world_rank), 0);
  if (Tcl_Eval(interpreter, script) != TCL_OK)
    check_failed(__FILE__, __LINE__, "%s", Tcl_GetStringResult(interpreter));
  double found;
  CHECK_EQ(Tcl_GetDoubleFromObj(interpreter, Tcl_GetObjResult(interpreter), &found), TCL_OK);
  char value[32];
  snprintf(value, sizeof value, "rank %d", world_rank);
  CHECK_STRING(getenv("TCL_RANK"), value);
  Tcl_DeleteInterp(interpreter);
  next_step();
  if (world_rank % 2) Tcl_Finalize(); /* ends here, for this rank */
  next_step();
  if (world_rank % 2 == 0) {
    interpreter = Tcl_CreateInterp();
    CHECK_EQ(Tcl_Eval(interpreter, "expr 6 * 7"), TCL_OK);
    CHECK_STRING(Tcl_GetStringResult(interpreter), "42");
    Tcl_DeleteInterp(interpreter);
  }
  next_step();
  if (world_rank % 2 == 0) Tcl_Finalize();
  return end_with(found);
}
