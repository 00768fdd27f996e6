# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every command that no preload reaches is refused with the reason; the others pass.

The programs are compiled here, so that they are what their names say on any machine.
"""

import os
import shutil
import stat
import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from heapwright.base.errors import HeapwrightError
from heapwright.experiment.command_check import (
    CheckedCommand,
    Machine,
    check_command,
    defines_malloc,
    machine_of,
)
from support.running import ran

SHELL = Path(os.path.realpath("/bin/sh"))
MACHINE = machine_of(SHELL)
MAIN = "int main(void){return 0;}\n"


def compile_c(folder: Path, name: str, text: str, *flags: str, compiler: str = "cc") -> Path:
    """Compile a C program, or skip with the reason if this machine cannot."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed (packages gcc, g++)")
    source = folder / f"{name}.c"
    source.write_text(text)
    command = [compiler, str(source), "-o", str(folder / name), *flags]
    done = ran(command)
    if done.returncode:
        pytest.skip(f"{' '.join([compiler, *flags])} does not work here: {done.stderr[-200:]}")
    return folder / name


def script(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o755)
    return path


def check(
    *command: str | Path, cwd: Path, path: str | None = None, shell: bool = False
) -> CheckedCommand:
    environment = {"PATH": os.environ["PATH"] if path is None else path}
    words = [os.fspath(word) for word in command]
    return check_command(words, machine=MACHINE, cwd=cwd, environment=environment, shell=shell)


def refusal(*command: str | Path, cwd: Path, path: str | None = None) -> str:
    with pytest.raises(HeapwrightError) as caught:
        check(*command, cwd=cwd, path=path)
    return f"{caught.value.message} | {caught.value.hint}"


def test_a_dynamic_program_passes(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "prog", MAIN)
    assert check(program, "arg", cwd=tmp_path) == CheckedCommand(program)


def test_a_name_is_searched_in_path_from_the_folder_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    compile_c(tmp_path / "bin", "prog", MAIN)
    assert check("prog", cwd=tmp_path, path="/nowhere:bin").executable.samefile(
        tmp_path / "bin/prog"
    )
    assert check("bin/prog", cwd=tmp_path, path="").executable.samefile(tmp_path / "bin/prog")
    assert "command not found: prog" in refusal("prog", cwd=tmp_path, path="/nowhere")


def test_an_empty_entry_of_path_is_the_folder_itself(tmp_path: Path) -> None:
    compile_c(tmp_path, "prog", MAIN)
    assert check("prog", cwd=tmp_path, path="/nowhere:").executable.samefile(tmp_path / "prog")


def test_a_later_entry_of_path_is_taken_when_the_first_is_not_executable(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        compile_c(tmp_path / name, "prog", MAIN)
    (tmp_path / "one/prog").chmod(0o644)
    assert check("prog", cwd=tmp_path, path="one:two").executable.samefile(tmp_path / "two/prog")
    assert "not executable" in refusal("prog", cwd=tmp_path, path="one")


def test_a_folder_of_path_that_may_not_be_searched_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_c(tmp_path, "prog", MAIN)
    real = Path.stat

    def stat_or_denied(path: Path, **how: bool) -> os.stat_result:
        if "closed" in path.parts:  # the super-user would be let in
            raise PermissionError(13, "Permission denied")
        return real(path, **how)

    monkeypatch.setattr(Path, "stat", stat_or_denied)
    assert check("prog", cwd=tmp_path, path=f"closed:{tmp_path}").executable == program
    assert "command not found: prog" in refusal("prog", cwd=tmp_path, path="closed")


def test_a_program_in_this_folder_is_pointed_out(tmp_path: Path) -> None:
    compile_c(tmp_path, "prog", MAIN)
    assert "write ./prog" in refusal("prog", cwd=tmp_path)


def test_shell_syntax_is_pointed_out(tmp_path: Path) -> None:
    assert "add --shell" in refusal("ls | wc -l", cwd=tmp_path)
    assert check("ls | wc -l", cwd=tmp_path, shell=True).executable.samefile(SHELL)


def test_an_empty_line_for_the_shell_is_no_command(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="no command"):
        check(" ", cwd=tmp_path, shell=True)


def test_nothing_is_no_command(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="no command"):
        check_command([], machine=MACHINE, cwd=tmp_path, environment={})


def test_a_file_that_cannot_be_executed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe", 0o755)
    assert "does not exist" in refusal("./none", cwd=tmp_path)
    assert "is not executable" in refusal("./text", cwd=tmp_path)
    assert "leads to itself" in refusal("./loop", cwd=tmp_path)
    assert "symbolic link to nothing" in refusal("./dangling", cwd=tmp_path)
    assert "is a folder" in refusal(tmp_path, cwd=tmp_path)
    assert "not a regular file" in refusal("./pipe", cwd=tmp_path)


def test_a_static_program_is_refused(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "prog", MAIN, "-static")
    assert "statically linked: its malloc is inside it" in refusal(program, cwd=tmp_path)


def test_a_static_program_that_can_be_moved_is_refused_too(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "prog", MAIN, "-static-pie")
    assert "statically linked" in refusal(program, cwd=tmp_path)


def test_the_loader_itself_is_no_static_program(tmp_path: Path) -> None:
    with SHELL.open("rb") as file:
        (segment,) = (s for s in ELFFile(file).iter_segments() if isinstance(s, InterpSegment))
        loader = Path(segment.get_interp_name())
    assert check(loader, "/bin/true", cwd=tmp_path).executable == loader


@pytest.mark.parametrize(
    ("bit", "name"), [(stat.S_ISUID, "set-user-ID"), (stat.S_ISGID, "set-group-ID")]
)
def test_a_program_with_foreign_rights_is_refused(tmp_path: Path, bit: int, name: str) -> None:
    program = compile_c(tmp_path, "prog", MAIN)
    program.chmod(0o755 | bit)
    if not program.stat().st_mode & bit:
        pytest.skip(f"this file system keeps no {name} bit")
    reason = refusal(program, cwd=tmp_path)
    assert f"is {name}" in reason
    assert "the loader ignores LD_PRELOAD" in reason


def test_a_program_with_capabilities_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_c(tmp_path, "prog", MAIN)
    # struct vfs_cap_data, revision 2, with CAP_NET_RAW permitted
    capability = struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0)
    try:
        os.setxattr(program, "security.capability", capability)
    except OSError:  # not allowed here: at least the reading of it is tested
        monkeypatch.setattr(os, "getxattr", lambda *_: capability)
    assert "file capabilities" in refusal(program, cwd=tmp_path)


def test_a_32_bit_program_is_refused(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "prog", MAIN, "-m32")
    assert f"a 32-bit x86 program: a {MACHINE} library cannot be" in refusal(program, cwd=tmp_path)


def test_a_program_of_another_machine_is_refused(tmp_path: Path) -> None:
    """Only the header is another machine's; nothing else of it is read before."""
    program = compile_c(tmp_path, "prog", MAIN)
    image = bytearray(program.read_bytes())
    image[18:20] = struct.pack("<H", 243)
    other = script(tmp_path, "other", bytes(image))
    assert "64-bit RISC-V program" in refusal(other, cwd=tmp_path)


def test_a_program_of_musl_is_refused(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "prog", MAIN, compiler="musl-gcc")
    assert "linked to another C library (musl)" in refusal(program, cwd=tmp_path)


def test_a_program_whose_loader_is_missing_is_refused(tmp_path: Path) -> None:
    loader = "/nowhere/ld-linux-x86-64.so.2"
    program = compile_c(tmp_path, "prog", MAIN, f"-Wl,--dynamic-linker={loader}")
    assert f"asks for the loader {loader}, which is not" in refusal(program, cwd=tmp_path)


def test_an_object_file_is_no_program(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "prog.o", MAIN, "-c")
    program.chmod(0o755)
    assert "not a program (ET_REL)" in refusal(program, cwd=tmp_path)


@pytest.mark.parametrize("length", [4, 16, 40, 64, 100])
def test_a_damaged_program_is_refused(tmp_path: Path, length: int) -> None:
    image = SHELL.read_bytes()[:length]
    assert "damaged ELF" in refusal(script(tmp_path, "cut", image), cwd=tmp_path)


def test_a_malloc_of_the_programs_own_is_mentioned(tmp_path: Path) -> None:
    text = "#include <stddef.h>\nvoid *malloc(size_t n){(void)n;return NULL;}\n" + MAIN
    program = compile_c(tmp_path, "prog", text, "-rdynamic")
    (warning,) = check(program, cwd=tmp_path).warnings
    assert "defines a malloc of its own" in warning


def test_a_call_of_malloc_is_not_a_definition(tmp_path: Path) -> None:
    text = "#include <stdlib.h>\nint main(void){return malloc != NULL && malloc(3) == NULL;}\n"
    program = compile_c(tmp_path, "prog", text, "-no-pie", "-rdynamic")
    assert check(program, cwd=tmp_path).warnings == ()
    assert not defines_malloc(program)


def test_a_script_is_checked_by_its_interpreter(tmp_path: Path) -> None:
    static = compile_c(tmp_path, "static", MAIN, "-static")
    good = script(tmp_path, "good", "#! /bin/sh -e\nexit 0\n")
    bad = script(tmp_path, "bad", f"#!{static}\n")
    nested = script(tmp_path, "nested", f"#!{good}\n")
    assert check(good, cwd=tmp_path).executable.samefile(SHELL)
    assert check(nested, cwd=tmp_path).executable.samefile(SHELL)
    assert f"{static}, the interpreter of {bad}, is statically linked" in refusal(bad, cwd=tmp_path)


def test_env_in_a_script_is_followed(tmp_path: Path) -> None:
    for number, line in enumerate(("env sh", "env -S A=1 sh -e", "env -S sh", "env\tsh")):
        path = script(tmp_path, f"s{number}", f"#!/usr/bin/{line}\n")
        assert check(path, cwd=tmp_path).executable.samefile(SHELL)
    gone = script(tmp_path, "gone", "#!/usr/bin/env no-such-interpreter\n")
    assert "command not found: no-such-interpreter, the interpreter of" in refusal(
        gone, cwd=tmp_path
    )
    bare = script(tmp_path, "bare", "#!/usr/bin/env\n")
    assert "no interpreter can be read" in refusal(bare, cwd=tmp_path)


def test_env_that_empties_the_environment_is_refused(tmp_path: Path) -> None:
    path = script(tmp_path, "s", "#!/usr/bin/env -S -i sh\n")
    assert "takes LD_PRELOAD away" in refusal(path, cwd=tmp_path)


def test_scripts_without_a_usable_interpreter_are_refused(tmp_path: Path) -> None:
    missing = script(tmp_path, "missing", "#!/nowhere/perl\n")
    assert "/nowhere/perl, the interpreter of" in refusal(missing, cwd=tmp_path)
    empty = script(tmp_path, "empty", "#!\n")
    assert "names no interpreter" in refusal(empty, cwd=tmp_path)
    windows = script(tmp_path, "windows", "#!/bin/sh\r\necho\r\n")
    assert "carriage return" in refusal(windows, cwd=tmp_path)
    plain = script(tmp_path, "plain", "echo hello\n")
    assert "neither an ELF program nor a script" in refusal(plain, cwd=tmp_path)
    itself = tmp_path / "itself"
    script(tmp_path, "itself", f"#!{itself}\n")
    assert "each other's interpreter" in refusal(itself, cwd=tmp_path)


def test_a_program_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_c(tmp_path, "prog", MAIN)
    program.chmod(0o111)

    def denied(*_: object) -> None:  # the super-user would be let in
        raise PermissionError

    monkeypatch.setattr(Path, "open", denied)
    assert "cannot be read" in refusal(program, cwd=tmp_path)


def test_a_library_is_asked_for_its_malloc(tmp_path: Path) -> None:
    text = "#include <stddef.h>\nvoid *malloc(size_t n){(void)n;return NULL;}\n"
    shared = ("-shared", "-fPIC")
    assert defines_malloc(compile_c(tmp_path, "a.so", text, *shared))
    assert defines_malloc(compile_c(tmp_path, "b.so", text, *shared, "-Wl,--hash-style=sysv"))
    assert not defines_malloc(compile_c(tmp_path, "c.so", "int x;\n", *shared))
    assert not defines_malloc(script(tmp_path, "d.so", "text"))


def test_a_machine_is_called_as_people_call_it() -> None:
    assert str(Machine(32, "x86")) == "32-bit x86"
    assert str(Machine(64, "x64")) == "64-bit x86-64"


GO = """
__attribute__((section(".go.buildinfo"), used)) static const char built[] = "\\xff Go buildinf:";
int main(void) { return 0; }
"""
"""What the Go linker leaves in every program, in one that is not written in Go."""


def test_a_go_program_that_is_linked_to_c_passes_and_is_called_one(tmp_path: Path) -> None:
    (warning,) = check(compile_c(tmp_path, "prog", GO), cwd=tmp_path).warnings
    assert "is a Go program" in warning
    assert "Go's own heap" in warning


def test_a_go_program_without_c_is_refused_as_one(tmp_path: Path) -> None:
    program = compile_c(tmp_path, "prog", GO, "-static")
    said = refusal(program, cwd=tmp_path)
    assert "is a Go program without any C in it" in said
    assert "it never asks malloc" in said


@pytest.mark.programs
def test_the_go_program_that_distributions_have_is_recognised() -> None:
    fzf = shutil.which("fzf")
    if fzf is None:
        pytest.skip("fzf is not installed (package fzf)")
    assert any("is a Go program" in each for each in check(fzf, cwd=Path("/")).warnings)
