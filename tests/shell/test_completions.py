"""Completions have every option, and do in bash, zsh and fish themselves what they should."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

from build_tree import BIN, PROGRAMS, SHARE

COMPLETIONS = {"bash": SHARE / "bash-completion" / "completions", "zsh": SHARE / "zsh" / "site-functions",
               "fish": SHARE / "fish" / "vendor_completions.d"}

# What is typed, and what is offered; "..." besides others. A file job.txt and a folder parts are there.
CASES = [
    ("tmpirun --balan", {"--balance"}),
    ("tmpirun --bind-to ", {"core", "none"}),
    ("tmpirun -n 4 --sched ", {"fifo", "lifo", "random:"}),
    ("tmpirun --pid r", {"rank"}),
    ("tmpirun --coll rep", {"reproducible"}),
    ("tmpirun --hostfile jo", {"job.txt"}),
    ("tmpirun --wdir pa", {"parts"}),
    ("tmpirun -n 4 ./job.txt jo", {"job.txt"}),
    ("tmpirun -n 4 ./job.txt : --pid n", {"node"}),
    ("tmpirun --host a:2 --rndv rea", {"read"}),
    ("tmpi-report --tra", {"--trace"}),
    ("tmpi-report jo", {"job.txt"}),
    ("tmpicc -showme:inc", {"-showme:incdirs"}),
    ("mpirun --stdin n", {"none"}),
]


def folder_of_case():
    folder = tempfile.TemporaryDirectory()
    (pathlib.Path(folder.name) / "job.txt").touch()
    (pathlib.Path(folder.name) / "parts").mkdir()
    return folder


def names(lines):
    """Of each candidate its word, as the shell has it before it is inserted."""
    return {line.split("\t")[0].strip().rstrip("/") for line in lines if line.strip()}


def program_of(typed):
    return "tmpirun" if typed.startswith("mpirun") else typed.split()[0]


class Completions(unittest.TestCase):
    def setUp(self):
        self.folder = folder_of_case()

    def tearDown(self):
        self.folder.cleanup()

    def run_shell(self, *command, text=None):
        home = {"HOME": self.folder.name, "PATH": f"{BIN}:{os.environ['PATH']}", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(command, cwd=self.folder.name, env=home, input=text, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_every_option_is_there(self):
        for program in PROGRAMS.values():
            if not program.options:
                continue
            bash = (COMPLETIONS["bash"] / program.name).read_text(encoding="utf-8").replace("'", " ").split()
            zsh = (COMPLETIONS["zsh"] / f"_{program.name}").read_text(encoding="utf-8")
            fish = (COMPLETIONS["fish"] / f"{program.name}.fish").read_text(encoding="utf-8") + " "
            for option in program.options:
                for name in option.names:
                    self.assertTrue({name, name + "="} & set(bash), f"{name} of {program.name} in bash")
                    written = re.escape(name).replace(":", r"\\:")
                    self.assertRegex(zsh, rf"['\)*]{written}[=-]*\[")
                    word = re.escape(name.lstrip("-").rstrip("="))
                    self.assertRegex(fish, rf" -[slo] {word} ")

    def test_bash(self):
        for typed, offered in CASES:
            script = f"""
source {COMPLETIONS['bash'] / program_of(typed)}
compopt() {{ :; }} # nothing is typed here
COMP_LINE='{typed}' COMP_POINT={len(typed)}
# As readline separates words: "=" and ":" stand alone.
read -ra COMP_WORDS <<< "$(sed 's/[=:]/ & /g' <<< "$COMP_LINE")"
[[ $COMP_LINE = *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_{program_of(typed).replace('-', '_')}
printf '%s\\n' "${{COMPREPLY[@]}}"
[[ ${{#COMPREPLY[@]}} -gt 0 ]] || compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}" || true # complete -o default
"""
            with self.subTest(typed=typed):
                offered = {word.rpartition(":")[2] or word for word in offered}  # readline's word is what follows a colon
                self.assertEqual(names(self.run_shell("bash", "--norc", "-c", script).splitlines()), offered)
        self.assertRegex((COMPLETIONS["bash"] / "tmpirun").read_text(encoding="utf-8"), r"\ncomplete -F _tmpirun tmpirun .*\bmpirun\b")

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        for typed, offered in CASES:
            script = f"set -p fish_complete_path {COMPLETIONS['fish']}\ncomplete -C '{typed}'\n"
            with self.subTest(typed=typed):
                self.assertEqual(names(self.run_shell("fish", "--no-config", "-c", script).splitlines()), offered)

    def test_in_an_interactive_shell(self):
        """What stands on the command line after Tab."""
        for shell in ("bash", "zsh"):
            if not shutil.which(shell):
                self.skipTest(f"{shell} is not installed")
            for typed, offered in CASES:
                if len(offered) > 1:
                    continue
                with self.subTest(shell=shell, typed=typed):
                    line = " ".join([*typed.split(" ")[:-1], *offered])
                    self.assertEqual(self.completed(shell, typed).rstrip(" /="), line)

    def completed(self, shell, typed):
        """The command line after `typed` and Tab, as the shell's own editor has it when another key writes it to a file."""
        result = os.path.join(self.folder.name, "line")
        setup = {
            "bash": f"for f in {COMPLETIONS['bash']}/*; do source $f; done; "
                    f"dump() {{ printf '%s' \"$READLINE_LINE\" > {result}.part; mv {result}.part {result}; }}; bind -x '\"\\C-g\": dump'",
            "zsh": f"fpath=({COMPLETIONS['zsh']} $fpath); autoload -Uz compinit; compinit -D -u; unsetopt beep; "
                   f"dump() {{ print -rn -- $BUFFER > {result}.part; mv {result}.part {result}; }}; zle -N dump; bindkey '^G' dump",
        }[shell]
        command = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell]
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder.name)
            os.execvpe(command[0], command, {"HOME": self.folder.name, "PATH": f"{BIN}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "$ "})
        ready = os.path.join(self.folder.name, "ready")
        try:
            os.write(terminal, f"{setup}; touch {ready}\n".encode())
            self.wait_for(terminal, ready)
            os.write(terminal, typed.encode() + b"\t\x07")
            self.wait_for(terminal, result)
            return pathlib.Path(result).read_text(encoding="utf-8")
        finally:
            os.close(terminal)  # which ends the shell
            os.waitpid(child, 0)
            for path in (ready, result):
                pathlib.Path(path).unlink(missing_ok=True)

    @staticmethod
    def wait_for(terminal, path):
        end = time.monotonic() + 60
        while not os.path.exists(path):
            assert time.monotonic() < end, f"{path} does not come"
            if select.select([terminal], [], [], 0.02)[0]:
                os.read(terminal, 65536)  # its echo must not block it


if __name__ == "__main__":
    unittest.main()
