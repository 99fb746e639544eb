"""Python as the program: found, followed, replaced where it can be mapped only once, and started as a shell would start it."""

import glob
import os
import re
import subprocess
import unittest

from harness import HANG, HERE, TMPIRUN, LaunchTest, main, program

PYTHON = "/usr/bin/python3"
FACTS = """
import os, sys, sysconfig
print(repr({
    "executable": sys.executable, "argv": sys.argv, "orig_argv": sys.orig_argv, "prefix": sys.prefix, "base_prefix": sys.base_prefix,
    "exec_prefix": sys.exec_prefix, "path": sys.path, "flags": tuple(sys.flags), "dont_write": sys.dont_write_bytecode, "xoptions": sys._xoptions,
    "warnoptions": sys.warnoptions, "version": sys.version, "utf8": sys.flags.utf8_mode, "encoding": sys.stdout.encoding,
    "exe": os.readlink("/proc/self/exe"), "name": __name__, "file": globals().get("__file__"), "scheme": sysconfig.get_paths(),
    "hash": hash("a") if os.environ.get("PYTHONHASHSEED") else None,
}))
"""


def runs():
    """Whether the system has a Python that ranks can run, or one for which there is a library."""
    if not os.access(PYTHON, os.X_OK):
        return False
    return subprocess.run([TMPIRUN, "-n", "1", PYTHON, "-S", "-c", ""], capture_output=True, timeout=HANG, check=False).returncode == 0


@unittest.skipUnless(runs(), f"{PYTHON} is none for ranks here, as libpython is missing")
class PythonTest(LaunchTest):
    def setUp(self):
        self.home = os.path.realpath(self.directory())
        self.app = self.file("app.py", FACTS)
        self.path = os.path.dirname(PYTHON) + ":" + os.environ["PATH"]

    def file(self, name, text, mode=0o755):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def same(self, *command, env=None, alone=None):
        """What ranks print is what the command prints by itself (`alone`, if that has other words)."""
        environment = {**os.environ, "PATH": self.path, **(env or {})}
        want = subprocess.run(alone or command, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=HANG, check=False, cwd=self.home)
        self.assertEqual((want.returncode, want.stdout.count(b"\n")), (0, 1), want.stderr)
        job = self.run_job("-n", 3, *command, env={"PATH": self.path, **(env or {})}, cwd=self.home)
        self.assertEqual(job.code, 0, job.err)
        self.assertEqual(sorted(set(job.out.decode().splitlines())), [want.stdout.decode().strip()])
        self.assertEqual(job.out.count(b"\n"), 3)

    def test_as_people_type_it(self):
        self.same("python3", "app.py", "one", "two words")
        self.same(PYTHON, self.app)
        self.same("python3", "-c", FACTS, "x")
        self.same("python3", "-m", "app", "-v")
        self.same("python3", "-u", "-O", "-X", "utf8", "-W", "error", "-B", "-s", "app.py")
        self.same("python3", "-I", "-S", self.app)

    def test_variables(self):
        self.same("python3", "-m", "app", env={"PYTHONPATH": self.home, "PYTHONHASHSEED": "7", "PYTHONDONTWRITEBYTECODE": "1"})
        self.same("python3", "app.py", env={"PYTHONUTF8": "1", "PYTHONWARNINGS": "ignore", "PYTHONSAFEPATH": "1"})
        self.same("python3", "app.py", env={"LC_ALL": "C", "PYTHONIOENCODING": "latin-1"})
        job = self.run_job("-n", 2, "-x", "PYTHONPATH=/of/ranks", PYTHON, "-c", "import sys; print('/of/ranks' in sys.path)")
        self.assertEqual(job.out, b"True\n" * 2, job.err)

    def test_virtual_environments(self):
        for copies in (), ("--copies",):
            place = os.path.join(self.home, "copied" if copies else "linked")
            subprocess.run([PYTHON, "-m", "venv", "--without-pip", *copies, place], check=True, timeout=HANG)
            self.same(os.path.join(place, "bin", "python"), "app.py")
            self.same(os.path.relpath(os.path.join(place, "bin", "python3"), self.home), "app.py")
            self.same("python3", "app.py", env={"PATH": os.path.join(place, "bin") + ":" + self.path})

    def test_scripts(self):
        for line in "#!/usr/bin/env python3", f"#! {PYTHON} -u", "#!/usr/bin/env -S python3 -u -O":
            script = self.file("script", line + "\n" + FACTS)
            self.same("./script", "argument")
            self.same(script)
        self.same("script", env={"PATH": self.home + ":" + self.path})
        second = self.file("second", f"#!{script}\n")
        self.assertEqual(self.run_job("-n", 2, second, env={"PATH": self.path}).code, 0)
        shell = self.file("shell", "#!/bin/sh\nexec python3 app.py\n")
        self.check_failure(self.run_job("-n", 2, shell), 126, "is a script")
        self.check_failure(self.run_job("-n", 2, self.file("lost", "#!/no/such/python3\n")), 126, "is a script")

    def test_what_is_in_front_of_a_python(self):
        """As pyenv's shims are."""
        shim = self.file("shims/python3", f'#!/bin/sh\necho loading >&2; echo words\nexec {PYTHON} "$@"\n')
        job = self.run_job("-n", 2, "-q", "python3", "app.py", env={"PATH": os.path.dirname(shim) + ":" + self.path}, cwd=self.home)
        self.assertEqual((job.code, job.out.count(f"'executable': '{PYTHON}'".encode())), (0, 2), job.err)
        broken = self.file("broken/python3", "#!/bin/sh\necho no version is set >&2; exit 3\n")
        job = self.run_job("-n", 2, broken, "app.py")
        self.check_failure(job, 126, f"{broken}: was asked which Python it is", "and ended with exit code 3; try it in a shell")
        self.assertIn(b"no version is set\n", job.err)
        silent = self.file("silent/python3", "#!/bin/sh\nexit 0\n")
        self.check_failure(self.run_job("-n", 2, silent, "app.py"), 126, "gave no answer")

    def test_position_independent(self):
        """As conda's and uv's are: an interpreter with its library inside is loaded as it is."""
        asked = "import sysconfig as s; print(s.get_config_var('LIBPL'), s.get_path('include'), sep='\\n'); print(s.get_config_var('MODLIBS'), s.get_config_var('LIBS'))"
        folder, headers, others = subprocess.run([PYTHON, "-c", asked], capture_output=True, text=True, timeout=HANG, check=True).stdout.splitlines()
        libraries = glob.glob(os.path.join(folder, "libpython3*-pic.a"))
        if not libraries:
            self.skipTest(f"{folder} has no library of position-independent objects (package libpython3-dev)")
        source = self.file("pie.c", "#include <Python.h>\nint main(int argc, char** argv) { return Py_BytesMain(argc, argv); }\n")
        os.mkdir(os.path.join(self.home, "bin"))
        python = os.path.join(self.home, "bin", "python3")
        others = [word for word in others.split() if not word.endswith(".a")]
        link = ["cc", "-fPIE", "-pie", "-I", headers, source, "-o", python, "-Wl,-export-dynamic,--whole-archive", libraries[0], "-Wl,--no-whole-archive",
                *others, "-lm", "-ldl"]
        # From Debian 13 on the library names an archive of its build, SHA-2 for where there is no OpenSSL, that no package has.
        tried = subprocess.run(link, capture_output=True, text=True, timeout=HANG, check=False, env={**os.environ, "LC_ALL": "C"})
        missing = sorted(set(re.findall(r"undefined reference to `(\w*Hacl_\w+)'", tried.stderr)))
        subprocess.run([*link, *(f"-Wl,--defsym={name}=abort" for name in missing)], check=True, timeout=HANG)
        self.same(python, "-W", "ignore", "app.py", "argument", env={"PYTHONHOME": "/usr"})
        self.same(python, "-c", "import decimal, ctypes, ssl, sys; print(ctypes.pythonapi.Py_IsInitialized(), sys.executable)", env={"PYTHONHOME": "/usr"})
        shown = subprocess.run([TMPIRUN, "--show-libraries", python], capture_output=True, text=True, timeout=HANG, check=False)
        self.assertNotIn("libpython", shown.stdout)

    def test_other_versions(self):
        other = os.path.join(self.home, "python3")
        subprocess.run(["cc", "-no-pie", "-fno-pie", "-o", other, os.path.join(HERE, "programs", "other_python.c")], check=True, timeout=HANG)
        facts = self.file("python3.facts", "3 11\n")
        self.check_failure(self.run_job("-n", 2, other), 126, f"{other} (Python 3.11) cannot be mapped once per rank",
                           "its library libpython3.11.so.1.0, which ranks would have instead, is missing", "apt-get install libpython3.11)")
        self.file("python3.facts", "3 7\n")
        self.check_failure(self.run_job("-n", 2, other), 126, "(Python 3.7) cannot be mapped once per rank", "only Python 3.8 and later can be replaced")
        os.remove(facts)
        self.check_failure(self.run_job("-n", 2, other), 126, f"{other}: was asked which Python it is", "ended with exit code 3")

    def test_several_nodes_and_programs(self):
        job = self.run_job("-n", 4, "--nodes", 2, PYTHON, "-c", "import os; print(os.environ['TMPI_COMM_WORLD_RANK'])")
        self.assertEqual(sorted(job.out.split()), [b"0", b"1", b"2", b"3"], job.err)
        job = self.run_job("-n", 1, PYTHON, "-c", "print('a')", ":", "-n", 2, PYTHON, "-c", "print('b')", ":", "-n", 1, program("plain.c"))
        self.assertEqual((job.out.count(b"a\n"), job.out.count(b"b\n"), job.code), (1, 2, 0), job.err)
        job = self.run_job("-n", 2, "nice", "-n", 1, "python3", "-c", "print('nice')", env={"PATH": self.path})
        self.assertEqual(job.out, b"nice\n" * 2, job.err)

    def test_ends(self):
        job = self.run_job("-n", 3, PYTHON, "-c", "import sys; sys.exit(3)")
        self.assertEqual((job.code, job.out), (3, b""))
        self.assertIn(b" ended with exit code 3, the first of 3 ranks with a non-zero one\n", job.err)
        job = self.run_job("-q", "-n", 2, PYTHON, "-c", "def f(): return 1 / 0\nf()")
        self.assertEqual(job.code, 1)
        self.assertEqual((job.err.count(b"in f"), job.err.count(b"ZeroDivisionError: division by zero\n")), (2, 2))
        job = self.run_job("-n", 2, PYTHON, "-c", "raise SystemExit('the reason')")
        self.assertEqual((job.code, job.err.count(b"the reason\n")), (1, 2), job.err)
        job = self.run_job("-n", 2, PYTHON, "-c", "import os; print('out', flush=True); os._exit(5)")
        self.assertEqual((job.code, job.out), (5, b"out\n" * 2), job.err)
        job = self.run_job("-n", 2, PYTHON, "-c", "import os; os.abort()")
        self.check_failure(job, 134, "rank ")
        job = self.run_job("-n", 2, PYTHON, "-X", "faulthandler", "-c", "def crash():\n  import ctypes; ctypes.string_at(0)\ncrash()")
        self.assertEqual(job.code, 139, job.err)
        self.assertIn(b"in crash", job.err)
        job = self.run_job("-n", 2, PYTHON, "-c", "import os; os.execv('/bin/true', ['true'])")
        self.check_failure(job, job.code, 'called execve("/bin/true"), which would replace the process that runs all ranks')
        self.assertNotEqual(job.code, 0)

    def test_at_exit_and_at_the_start(self):
        text = "import atexit, sys\natexit.register(print, 'registered')\nsys.stdout.write('begun ')\n"
        self.assertEqual(self.run_job("-n", 3, PYTHON, "-c", text).out, b"begun registered\n" * 3)
        job = self.run_job("-n", 2, PYTHON, "-", input=b"print('from stdin')\n")
        self.assertEqual(job.out, b"from stdin\n", job.err)
        self.same("python3", "app.py", env={"PYTHONSTARTUP": "/no/such/file", "PYTHONNOUSERSITE": "1"})

    def test_libraries_that_it_has(self):
        shown = subprocess.run([TMPIRUN, "--show-libraries", PYTHON], capture_output=True, text=True, timeout=HANG, check=False)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"(?m)^libpython3\S+ +private")


if __name__ == "__main__":
    main()
