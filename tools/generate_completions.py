#!/usr/bin/env python3
"""Writes completions for bash, zsh and fish, from what the programs say of themselves (program_options.py).

    tools/generate_completions.py BIN SHARE [LINK:PROGRAM...]

Those of the programs in BIN go where each shell looks for them beneath SHARE. LINK is another name of a program, as in mpicc:tmpicc.
tmpirun's options end at the program's name, whose own words are files or its own completion's; ":" begins anew. Other programs take options
and files. Other launchers' options, which tmpirun understands as well, are not offered.
"""

import pathlib
import re
import sys

from program_options import read_programs, write

# What a value's name in the table says of it.
KINDS = [("FILE", "file"), ("TRACE", "file"), ("DIR", "directory"), ("HOST", "host"), ("COMPILER", "command"), ("COMMAND", "command"),
         ("VAR", "variable")]


def kind_of(option):
    """What its value is: "values", "file", "directory", "host", "command", "variable", "other"; empty: it has none."""
    if option.values:
        return "values"
    for word, kind in KINDS:
        if word in option.argument:
            return kind
    return "other" if option.argument else ""


def is_attached(option):
    """Its value stands behind "=", or is left out."""
    return option.argument.startswith("[") or option.names[0].endswith("=")


def takes_next_word(option):
    return bool(option.argument) and not is_attached(option)


def short(option):
    """The first clause of its help."""
    return re.split(r"(?<=[a-z0-9)])[.:;](?: |$)| \(", option.help)[0]


def written(option, name):
    return f"{name}=" if option.argument.startswith("[=") and name.startswith("--") else name


# --- bash

BASH_VALUES = {
    "file": 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word")',
    "directory": 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word")',
    "host": 'mapfile -t COMPREPLY < <(compgen -A hostname -- "$word")',
    "command": 'mapfile -t COMPREPLY < <(compgen -c -- "$word")',
    "variable": 'mapfile -t COMPREPLY < <(compgen -v -- "$word")',
}

BASH = """\
# Completion of @NAME@ for bash, made by tools/generate_completions.py.

# _@FUNCTION@_value OPTION WORD: offers values of the option; fails if it takes none.
_@FUNCTION@_value() {
  local word=$2
  case $1 in
@VALUES@
    *) return 1 ;;
  esac
}

_@FUNCTION@() {
  local word=${COMP_WORDS[COMP_CWORD]} line=${COMP_LINE:0:COMP_POINT} at in_options=yes option='' glued=''
  local whole=${line##*[[:space:]]}
  COMPREPLY=()
  # Which option's value the word is, and whether options may stand here. bash takes "=" and ":" for words of their own.
  for ((at = 1; at < COMP_CWORD; ++at)); do
    if [[ ${COMP_WORDS[at]} = : ]]; then
      if [[ $line = *' : '* ]]; then in_options=yes option=; else glued=yes; fi
    elif [[ $glued ]]; then
      glued=
    elif [[ $in_options = no || ${COMP_WORDS[at]} = = ]]; then
      continue
    elif [[ $option ]]; then
      option=
    elif [[ ${COMP_WORDS[at]} = -* && ${COMP_WORDS[at + 1]} = = ]]; then
      option=${COMP_WORDS[at]}=
    elif [[ ${COMP_WORDS[at]} = -* ]]; then
      case ${COMP_WORDS[at]} in @TAKING@) option=${COMP_WORDS[at]} ;; esac
    else
      in_options=@AFTER@
    fi
  done
  [[ $word = = ]] && word=
  if [[ $in_options = no ]]; then
    compopt -o default
  elif [[ $option ]]; then
    _@FUNCTION@_value "$option" "$word"
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} = *: ]] && compopt -o nospace
  elif [[ $whole = -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '@OPTIONS@' -- "$whole")
    [[ $whole = *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${whole%:*}:"}")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} = *= ]] && compopt -o nospace
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(@PLAIN@)
  fi
  return 0
}
complete -F _@FUNCTION@ @NAMES@
"""


def bash_patterns(option):
    """How its name may stand in front of its value, dashes doubled or not."""
    patterns = []
    for name in option.names:
        bare = name.lstrip("-").rstrip("=")
        spellings = [f"-{bare}", f"--{bare}"] if len(bare) > 1 else [] if option.argument.startswith("[=") else [name]
        if takes_next_word(option):
            patterns += spellings
        patterns += [f"{spelling}=" for spelling in spellings if spelling.startswith("--") or is_attached(option)]
    return patterns


def bash(program):
    function = program.name.replace("-", "_")
    values = []
    for option in program.options:
        kind = kind_of(option)
        if kind:
            action = BASH_VALUES.get(kind, ":")
            if kind == "values":
                action = f"mapfile -t COMPREPLY < <(compgen -W '{' '.join(option.values)}' -- \"$word\")"
            values.append(f"    {' | '.join(bash_patterns(option))}) {action} ;;")
    taking = [pattern for option in program.options for pattern in bash_patterns(option) if not pattern.endswith("=")]
    runs = program.name == "tmpirun"
    return (BASH.replace("@NAMES@", " ".join([program.name, *program.also])).replace("@NAME@", program.name)
            .replace("@FUNCTION@", function).replace("@VALUES@", "\n".join(values)).replace("@TAKING@", " | ".join(taking) or "''")
            .replace("@OPTIONS@", " ".join(written(option, name) for option in program.options for name in option.names))
            .replace("@AFTER@", "no" if runs else "yes")
            .replace("@PLAIN@", 'compgen -A command -A file -- "$word" | sort -u' if runs else 'compgen -f -- "$word"'))


# --- zsh

ZSH_VALUES = {"file": "_files", "directory": "_files -/", "host": "_hosts", "command": "_command_names -e", "variable": "_parameters -g '*export*'",
              "other": " "}

ZSH = """\
#compdef @NAMES@
# Completion of @NAME@ for zsh, made by tools/generate_completions.py.

@RESTART@_arguments -s -S@STOP@ \\
@SPECS@
"""

# The words behind the last ":" are those of a program of their own.
ZSH_RESTART = """\
local at
for ((at = CURRENT - 1; at > 1; --at)); do
  [[ $words[at] = : ]] || continue
  words=($words[1] "${(@)words[at + 1,-1]}")
  ((CURRENT -= at - 1))
  break
done
"""


def zsh_quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_specs(option, runs):
    described = re.sub(r"([\[\]:\\])", r"\\\1", short(option))
    kind = kind_of(option)
    value = ""
    if kind:
        action = f"({' '.join(option.values).replace(':', chr(92) + ':')})" if kind == "values" else ZSH_VALUES[kind]
        message = re.sub(r"[\[\]=:]", "", option.argument.split("|")[0]).lower() or "value"
        value = f"{'::' if option.argument.startswith('[') else ':'}{message}:{action}"
    exclusive = "" if "May be repeated" in option.help else f"({' '.join(option.names).replace('=', '')})"
    for name in option.names:
        glue = ""
        if option.argument:
            glue = ("=-" if name.startswith("--") else "") if option.argument.startswith("[=") else "-" if name.endswith("=") else "=" if runs and name.startswith("--") else ""
        repeated = "" if exclusive else "*"
        own_value = "" if option.argument.startswith("[=") and not glue else value
        yield zsh_quoted(f"{exclusive}{repeated}{name.replace(':', chr(92) + ':')}{glue}[{described}]{own_value}")


def zsh(program):
    runs = program.name == "tmpirun"
    specs = [spec for option in program.options for spec in zsh_specs(option, runs)]
    if runs:
        specs += ["'(-)1:program:_alternative \"commands:command:_command_names -e\" \"files:file:_files\"'", "'*::arguments:_normal'"]
    else:
        specs.append("'*:file:_files'")
    return (ZSH.replace("@NAMES@", " ".join([program.name, *program.also])).replace("@NAME@", program.name)
            .replace("@RESTART@", ZSH_RESTART if runs else "").replace("@STOP@", " -A '-*'" if runs else "")
            .replace("@SPECS@", " \\\n".join(f"  {spec}" for spec in specs)))


# --- fish

FISH_VALUES = {"file": "-r -F", "directory": "-x -a '(__fish_complete_directories)'", "host": "-x -a '(__fish_print_hostnames)'",
               "command": "-x -a '(complete --do-complete=(commandline -ct))'", "variable": "-x -a '(set -nx)'", "other": "-x"}

# fish's own options with one dash are single letters, or -o.
FISH_HEAD = """\
# Completion of @NAME@ for fish, made by tools/generate_completions.py.
"""

FISH_RUNS = """
# Whether the word is one of tmpirun's own: an option, or the program.
function __tmpirun_in_options
  set -l in_options yes
  set -l value no
  for word in (commandline -opc)[2..]
    if test $value = yes
      set value no
    else if test "$word" = :
      set in_options yes
    else if test $in_options = no
    else if contains -- $word @TAKING@
      set value yes
    else if not string match -q -- '-*' $word
      set in_options no
    end
  end
  test $in_options = yes
end

complete -c tmpirun -n __tmpirun_in_options -a '(complete --do-complete=(commandline -ct))'
"""


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_line(program, option):
    line = f"complete -c {program.name}"
    if program.name == "tmpirun":
        line += " -n __tmpirun_in_options"
    for name in option.names:
        bare = name.rstrip("=")
        line += f" -l {bare[2:]}" if bare.startswith("--") else f" -s {bare[1:]}" if len(bare) == 2 else f" -o {bare[1:]}"
    kind = kind_of(option)
    if kind == "values":
        line += f" {'-f' if option.argument.startswith('[') else '-x'} -a {fish_quoted(' '.join(option.values))}"
    elif kind:
        attached = option.argument.startswith("[")
        line += "" if attached else f" {FISH_VALUES[kind]}"
    return f"{line} -d {fish_quoted(short(option))}"


def fish(program):
    text = FISH_HEAD.replace("@NAME@", program.name)
    if program.name == "tmpirun":
        taking = [name for option in program.options if takes_next_word(option) for name in option.names]
        text += FISH_RUNS.replace("@TAKING@", " ".join(taking))
    text += "\n" + "\n".join(fish_line(program, option) for option in program.options) + "\n"
    return text + "".join(f"complete -c {link} -w {program.name}\n" for link in program.also)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    share = pathlib.Path(sys.argv[2])
    for program in read_programs(pathlib.Path(sys.argv[1]), sys.argv[3:]):
        if not program.options:
            continue
        every = [program.name, *program.also]
        # bash and fish look for a file of the command's name, zsh at the first line of each.
        write(share / "bash-completion" / "completions", "{}", bash(program), every)
        write(share / "zsh" / "site-functions", "_{}", zsh(program), [program.name])
        write(share / "fish" / "vendor_completions.d", "{}.fish", fish(program), every)


if __name__ == "__main__":
    main()
