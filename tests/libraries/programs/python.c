/* libpython: one interpreter per process, with modules that it opens by dlopen and a lock that one thread holds. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "steps.h"

static PyObject* step(PyObject* self, PyObject* nothing) {
  (void)self, (void)nothing;
  next_step();
  Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"step", step, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "ranks", NULL, -1, methods, NULL, NULL, NULL, NULL};
static PyObject* make_module(void) {
  PyObject* module = PyModule_Create(&definition);
  PyModule_AddIntConstant(module, "rank", world_rank);
  return module;
}

static const char script[] =
    "import decimal, json, os, random, sys, threading, zlib\n"
    "import ranks\n"
    "rank = ranks.rank\n"
    "sys.mine = rank\n"
    "os.environ['PY_RANK'] = str(rank)\n"
    "decimal.getcontext().prec = 10 + rank\n"
    "random.seed(rank)\n"
    "ranks.step()\n"
    "assert sys.mine == rank and os.environ['PY_RANK'] == str(rank)\n"
    "assert len(str(decimal.Decimal(1) / 3)) == 12 + rank\n"
    "kept = []\n"
    "for round in range(5):\n"
    "    kept.append({'rank': rank, 'list': [rank] * 50, 'cycle': kept})\n"
    "    ranks.step()\n"
    "    assert all(entry['rank'] == rank and sum(entry['list']) == 50 * rank for entry in kept)\n"
    "assert json.loads(json.dumps({'rank': rank}))['rank'] == rank\n"
    "assert zlib.decompress(zlib.compress(b'%d' % rank)) == b'%d' % rank\n"
    "seen = []\n"
    "thread = threading.Thread(target=lambda: seen.append(rank))\n"
    "thread.start()\n"
    "thread.join()\n"
    "assert seen == [rank]\n"
    "ranks.step()\n"
    "try:\n"
    "    def deeper(n): return deeper(n + 1)\n"
    "    deeper(0)\n"
    "    assert False\n"
    "except RecursionError:\n"
    "    pass\n"
    "ranks.step()\n"
    "print('Python of rank', rank, flush=True)\n"
    "found = random.random()\n";

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  PyImport_AppendInittab("ranks", make_module);
  Py_InitializeEx(0);
  PyObject* globals = PyModule_GetDict(PyImport_AddModule("__main__"));
  PyObject* result = PyRun_String(script, Py_file_input, globals, globals);
  if (result == NULL) {
    PyErr_Print();
    check_failed(__FILE__, __LINE__, "the script has failed");
  }
  Py_DECREF(result);
  double found = PyFloat_AsDouble(PyDict_GetItemString(globals, "found"));
  if (world_rank % 2) CHECK_EQ(Py_FinalizeEx(), 0); /* ends here, for this rank */
  next_step();
  if (world_rank % 2 == 0) {
    CHECK_EQ(PyRun_SimpleString("assert sys.mine == rank"), 0);
    CHECK_EQ(Py_FinalizeEx(), 0);
  }
  return end_with(found);
}
