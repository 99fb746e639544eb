// Scripts: files whose first line names the program that runs them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tmpi::launch {

/// The words of a first line "#!..." as the kernel takes them: the interpreter, and what follows as one word, if
/// anything does. Empty: the file is no script, or cannot be read.
std::vector<std::string> interpreter_line(const std::string& path);

/// What `env` would run of such a line ("#!/usr/bin/env python3", "#!/usr/bin/env -S python3 -u"): the name and its
/// arguments. Other lines come back as they are; of those that have env do more nothing is left.
std::vector<std::string> without_env(std::vector<std::string> line);

/// A name under which Pythons are installed: python, python3, python3.11, python3.13t, python3.11-dbg; with or without a
/// directory.
bool is_python_name(std::string_view path);

/// A name of a shell: sh, bash, dash, zsh, ksh, csh ...
bool is_shell_name(std::string_view path);

}  // namespace tmpi::launch
