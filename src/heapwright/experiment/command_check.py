# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Checks, before the first run, that a preload can replace the malloc of a command.

With a preload the dynamic loader places a library before all others. The program must meet four
conditions:

- It has a loader, so it is not static.
- Its loader reads LD_PRELOAD, so it is not set-user-ID.
- It is built for the machine of the library, for example not for 32 bits.
- It uses the same C library, so not musl.

For a script, its interpreter is checked. The check follows `#!` lines, and `env` in them, as the
kernel and execvp do. Each refusal is one sentence with the reason, and a hint.

Programs that the command starts later are not checked here. The proof in every process of every run
covers them.
"""

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.hash import ELFHashSection, GNUHashSection
from elftools.elf.segments import InterpSegment

from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import exists, is_file

SHELL = "/bin/sh"
DEFAULT_PATH = "/bin:/usr/bin"
MAX_INTERPRETERS = 5
"""Number of `#!` lines that the kernel follows before it returns ELOOP."""
SHEBANG_BYTES = 256
"""As much of the first line as the kernel reads (BINPRM_BUF_SIZE)."""
LOADER_NAMES = ("ld-linux", "ld64.so", "ld.so.1")
"""Names of the loader of the GNU C library on the machines of Linux."""
GO_SECTION = ".go.buildinfo"
"""Section that Go's linker writes into every program, stripped or not."""
CAPABILITY = "security.capability"
MACHINE_NAMES = {"x64": "x86-64"}
"""Usual names for names of the ELF library."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The properties that a library and a program in one process must share."""

    bits: int
    name: str

    def __str__(self) -> str:
        return f"{self.bits}-bit {MACHINE_NAMES.get(self.name, self.name)}"


@dataclass(frozen=True, slots=True)
class CheckedCommand:
    """The program that the kernel loads, and notes on it for the user."""

    executable: Path
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Search:
    """The part of the check that is equal for a script and its interpreter."""

    cwd: Path
    environment: Mapping[str, str]
    machine: Machine
    warnings: list[str] = field(default_factory=list)


def machine_of(path: Path) -> Machine:
    """The machine that the ELF file at `path` is made for."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        return Machine(elf.elfclass, elf.get_machine_arch())


def check_command(
    command: Sequence[str],
    *,
    machine: Machine,
    cwd: Path,
    environment: Mapping[str, str],
    shell: bool = False,
) -> CheckedCommand:
    """Find the program of `command` as execvp would from `cwd`, and refuse what no preload reaches.

    With `shell` the command is text for /bin/sh, which is then the program that is checked.
    Raises HeapwrightError.
    """
    if not command or not (command[-1].strip() if shell else command[0]):
        raise HeapwrightError("there is no command to run", "write it after `--`")
    search = _Search(cwd, environment, machine)
    name = SHELL if shell else command[0]
    executable = _check_program(name, name, search, depth=0)
    return CheckedCommand(executable, tuple(search.warnings))


def find_program(command: Sequence[str], *, cwd: Path, environment: Mapping[str, str]) -> Path:
    """The file that execvp would run from `cwd`, preload or not. Raises HeapwrightError."""
    return _find(command[0], command[0], _Search(cwd, environment, Machine(0, "")))


def _check_program(name: str, shown: str, search: _Search, depth: int) -> Path:
    path = _find(name, shown, search)
    _refuse_privileged(path, shown)
    try:
        with path.open("rb") as file:
            start = file.read(SHEBANG_BYTES)
    except PermissionError as error:
        raise HeapwrightError(
            f"{shown} cannot be read, so it cannot be known whether a preload works in it",
            "give yourself read permission, or use a copy",
        ) from error
    except OSError as error:
        raise HeapwrightError(f"{shown} cannot be read: {error.strerror}") from error
    if start.startswith(b"\x7fELF"):
        _check_elf(path, shown, search)
        return path
    if start.startswith(b"#!"):
        if depth >= MAX_INTERPRETERS:
            raise HeapwrightError(f"{shown}: too many scripts are each other's interpreter")
        return _check_script(start, shown, search, depth)
    raise HeapwrightError(
        f"{shown} is neither an ELF program nor a script that names its interpreter",
        f"begin it with a line such as #!{SHELL}, or name the interpreter before it",
    )


def _find(name: str, shown: str, search: _Search) -> Path:
    """The file that execvp would take: as given if it has a slash, else from PATH."""
    if "/" in name:
        return _usable(search.cwd / name, shown)
    denied: HeapwrightError | None = None
    folders = search.environment.get("PATH", DEFAULT_PATH).split(":")
    for folder in folders:
        candidate = search.cwd / folder / name
        try:
            return _usable(candidate, shown)
        except HeapwrightError as error:
            if is_file(candidate):
                denied = denied or error
    if denied is not None:
        raise denied
    local = search.cwd / name
    hint = f"for the file in this folder write ./{name}" if is_file(local) else ""
    if not hint and (" " in name or "|" in name or ">" in name):
        hint = "for a command line with shell syntax add --shell, or run sh -c '...'"
    raise HeapwrightError(f"command not found: {shown}", hint)


def _usable(path: Path, shown: str) -> Path:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise HeapwrightError(f"{shown} is a symbolic link that leads to itself") from error
        if error.errno == errno.EACCES:
            raise HeapwrightError(f"{shown}: a folder on its way cannot be entered") from error
        what = "is a symbolic link to nothing" if os.path.lexists(path) else "does not exist"
        raise HeapwrightError(f"command not found: {shown} {what}") from error
    if stat.S_ISDIR(mode):
        raise HeapwrightError(f"{shown} is a folder, not a program")
    if not stat.S_ISREG(mode):
        raise HeapwrightError(f"{shown} is not a regular file")
    if not os.access(path, os.X_OK):
        raise HeapwrightError(f"{shown} is not executable", f"chmod +x {shown}")
    return path


def _refuse_privileged(path: Path, shown: str) -> None:
    mode = path.stat().st_mode
    kind = "set-user-ID" if mode & stat.S_ISUID else "set-group-ID" if mode & stat.S_ISGID else ""
    if not kind and has_capabilities(path):
        kind = "a program with file capabilities"
    if kind:
        raise HeapwrightError(
            f"{shown} is {kind}: it runs with rights that are not yours, and there the loader "
            "ignores LD_PRELOAD",
            f"use a copy, which has no such rights: cp {path} /tmp/",
        )


def has_capabilities(path: Path) -> bool:
    try:
        return bool(os.getxattr(path, CAPABILITY))
    except OSError:
        return False


def _check_script(start: bytes, shown: str, search: _Search, depth: int) -> Path:
    line = start[2:].split(b"\n", 1)[0].strip(b" \t\r").decode("utf-8", "surrogateescape")
    interpreter, _, argument = line.partition(" ")
    interpreter, tab, rest = interpreter.partition("\t")
    argument = (rest if tab else argument).strip()
    if not interpreter:
        raise HeapwrightError(f"{shown} begins with #! but names no interpreter")
    if start.split(b"\n", 1)[0].endswith(b"\r"):
        raise HeapwrightError(
            f"the first line of {shown} ends in a carriage return, which the kernel takes for a "
            "part of the interpreter's name",
            f"sed -i 's/\\r$//' {shown}",
        )
    described = f"{interpreter}, the interpreter of {shown},"
    found = _check_program(_absolute(interpreter), described, search, depth + 1)
    if Path(interpreter).name != "env":
        return found
    program = _program_of_env(argument, shown)
    described = f"{program}, the interpreter of {shown},"
    return _check_program(program, described, search, depth + 1)


def _absolute(interpreter: str) -> str:
    """The kernel takes the name of an interpreter as a path, never from PATH."""
    return interpreter if "/" in interpreter else f"./{interpreter}"


def _program_of_env(argument: str, shown: str) -> str:
    """The program that `#!/usr/bin/env ARGUMENT` starts; without -S, all of it is one word."""
    words = [argument] if argument else []
    for flag in ("-S", "--split-string=", "-vS"):
        if argument.startswith(flag):
            words = argument[len(flag) :].split()
    for word in words:
        if word in ("-i", "-", "--ignore-environment") or word in ("-uLD_PRELOAD",):
            raise HeapwrightError(
                f"{shown} begins with `env {word}`, which takes LD_PRELOAD away from it",
                "name the interpreter before the script instead",
            )
        if not word.startswith("-") and "=" not in word:
            return word
    raise HeapwrightError(f"{shown} begins with #! env, but no interpreter can be read after it")


def _check_elf(path: Path, shown: str, search: _Search) -> None:
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            machine = Machine(elf.elfclass, elf.get_machine_arch())
            loader = loader_of(elf)
            kind = elf["e_type"]
            own_malloc = _offers(elf, "malloc")
            is_go = elf.get_section_by_name(GO_SECTION) is not None
    except (ELFError, OSError, ValueError, UnicodeDecodeError) as error:
        raise HeapwrightError(f"{shown} is a damaged ELF program: {error}") from error
    if machine != search.machine:
        raise HeapwrightError(
            f"{shown} is a {machine} program: a {search.machine} library cannot be loaded into it",
            f"build it for {search.machine}",
        )
    if kind not in ("ET_EXEC", "ET_DYN"):
        raise HeapwrightError(f"{shown} is an ELF file, but not a program ({kind})")
    if loader is None:
        if path.name.startswith(LOADER_NAMES):
            return
        raise _static(shown, is_go=is_go)
    _check_loader(loader, shown, search)
    if is_go:
        search.warnings.append(
            f"{shown} is a Go program: its memory is Go's own heap. A preload "
            "serves only requests of its C code to malloc"
        )
    if own_malloc:
        search.warnings.append(
            f"{shown} defines a malloc of its own, which comes before any preloaded one: expect "
            "not-interposed"
        )


def _static(shown: str, *, is_go: bool) -> HeapwrightError:
    if is_go:
        return HeapwrightError(
            f"{shown} is a Go program without any C in it: it is statically linked, its memory is "
            "Go's own heap, and it never asks malloc",
            "no allocator here changes anything in it",
        )
    return HeapwrightError(
        f"{shown} is statically linked: its malloc is inside it, and there is no loader that "
        "could put another one before it",
        "link it dynamically, or link the allocator into it",
    )


def _check_loader(loader: str, shown: str, search: _Search) -> None:
    base = Path(loader).name
    if not base.startswith(LOADER_NAMES):
        family = "musl" if "musl" in base else f"with the loader {loader}"
        raise HeapwrightError(
            f"{shown} is linked to another C library ({family}): the allocators here are built for "
            "the GNU C library and cannot be loaded into it",
            "link it to the GNU C library, or run it in a system that has one",
        )
    if not exists(search.cwd / loader):
        raise HeapwrightError(f"{shown} asks for the loader {loader}, which is not installed here")


def loader_of(elf: ELFFile) -> str | None:
    for segment in elf.iter_segments():
        if isinstance(segment, InterpSegment):
            return str(segment.get_interp_name())
    return None


def _offers(elf: ELFFile, symbol: str) -> bool:
    """Whether other objects of the process find `symbol` here; a look-up in its hash table."""
    for section in elf.iter_sections():
        if isinstance(section, GNUHashSection | ELFHashSection):
            entry = section.get_symbol(symbol)
            return entry is not None and entry["st_shndx"] != "SHN_UNDEF"
    return False


def defines_malloc(path: Path) -> bool:
    """Whether the library at `path` itself exports malloc."""
    try:
        with path.open("rb") as file:
            return _offers(ELFFile(file), "malloc")
    except (ELFError, OSError, ValueError, UnicodeDecodeError):
        return False
