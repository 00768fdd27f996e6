# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is said before any run: bad usage, commands that no preload reaches, unwritable files."""

import stat
from pathlib import Path

import pytest

from heapwright import __version__
from heapwright.base.errors import ExitCode

from .tools import WORKER, Heapwright, compile_c

pytestmark = pytest.mark.usefixtures("native")


def refused(heapwright: Heapwright, tmp_path: Path, *arguments: str | Path) -> str:
    """The words with which a command line is refused, on one line; nothing was run or left."""
    before = sorted(tmp_path.iterdir())
    done = heapwright("compare", *arguments)
    assert done.status == ExitCode.BAD_INPUT
    assert done.out == ""
    assert "Traceback" not in done.err
    assert sorted(tmp_path.iterdir()) == before
    return " ".join(done.err.replace("│", " ").split())


def test_a_program_without_dashes_gives_the_line_to_type(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    for words in (["explain", worker], ["explain", "-q", worker, "-n", "1"], ["profile", worker]):
        done = heapwright(*words)
        assert done.status == ExitCode.BAD_INPUT
        first, line = done.err.splitlines()
        assert first == f"heapwright: {worker} is a program, and a command to run stands after --"
        asked = [str(each) for each in words]
        at = asked.index(str(worker))
        assert line.split()[-len(asked) - 1 :] == [*asked[:at], "--", *asked[at:]]
    trace = tmp_path / "t"
    trace.write_bytes(b"HWTRACE")
    trace.chmod(0o755)
    assert "is a program" not in heapwright("explain", trace).err


def test_the_version(heapwright: Heapwright) -> None:
    assert heapwright("--version").out == f"heapwright {__version__}\n"


def test_help_names_every_option(heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert "compare" in heapwright("--help").out
    text = heapwright("compare", "--help").out
    for option in [
        "--allocators",
        "--blocks",
        "--until",
        "--warmup",
        "--timeout",
        "--baseline",
        "--set",
        "--cap",
        "--pin",
        "--seed",
        "--json",
        "--csv",
        "--quiet",
        "--cwd",
        "--prepare",
        "--shell",
        "--stdin",
        "--budget",
        "--margin",
        "--expect-exit",
        "--program",
        "--scale",
    ]:
        assert option in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-a", "jemaloc", "--", "ls"], "unknown allocator 'jemaloc' did you mean jemalloc?"),
        (["--", "no-such-command"], "command not found: no-such-command"),
        (["-n", "0", "--", "ls"], "-n"),
        (["-n", "3", "--until", "3%", "--", "ls"], "give one of them"),
        (["--until", "three", "--", "ls"], "'three' is no fraction"),
        (["--cap", "lots", "--", "ls"], "'lots' is no size"),
        (["--pin", "99999", "--", "ls"], "processor 99999 is not available"),
        (["--timeout", "0", "--", "ls"], "--timeout"),
        (["--timeout", "nan", "--", "ls"], "--timeout"),
        (["--timeout", "inf", "--", "ls"], "--timeout"),
        (["--seed", "-1", "--", "ls"], "--seed"),
        (["--bogus", "--", "ls"], "No such option: --bogus"),
        ([], "no command, and no --program"),
        (["--program", "redis", "--", "ls"], "there cannot be a command beside it"),
        (["--program", "redis", "--shell"], "there cannot be --shell beside it"),
        (["--program", "no-such-program"], "there is no program 'no-such-program'"),
        (["--scale", "small", "--", "ls"], "--scale is for a program"),
        (["-p", "rows=1", "--", "ls"], "-p is for a program"),
        (["--program", "reference", "-p", "times"], "cannot read the parameter 'times'"),
        (["--program", "reference", "-p", "tims=3"], "did you mean times?"),
        (["--program", "reference", "-p", "times=x"], "is a whole number, not 'x'"),
        (["--program", "reference", "--scale", "smal"], "did you mean small?"),
        (["-a", "lea", "--set", "lae:A=1", "--", "ls"], "speaks of 'lae'"),
        (["-a", "lea", "--set", "lea", "--", "ls"], "cannot read the setting"),
        (["-a", "glibc", "--", "ls"], "only glibc is left"),
        (["-a", "lea", "--baseline", "gibc", "--", "ls"], "did you mean glibc?"),
        (["-a", "older=./a.so", "--baseline", "oldr", "--", "ls"], "did you mean older?"),
        (["--json", "none/out.json", "--", "ls"], "--json none/out.json cannot be written"),
        (["--csv", ".", "--", "ls"], "--csv . cannot be written: it is a folder"),
        (["--json", "x", "--csv", "x", "--", "ls"], "cannot write to the same place"),
        (["--cwd", "none", "--", "ls"], "--cwd none does not exist"),
        (["--stdin", "none", "--", "ls"], "--stdin none cannot be read"),
        (["--", "ls | wc"], "add --shell"),
    ],
)
def test_bad_usage(
    heapwright: Heapwright, tmp_path: Path, arguments: list[str], words: str
) -> None:
    assert words in refused(heapwright, tmp_path, *arguments)


def test_a_static_program(heapwright: Heapwright, tmp_path: Path) -> None:
    program = compile_c(tmp_path / "prog", WORKER, "-static")
    assert "statically linked" in refused(heapwright, tmp_path, "--", program)


def test_a_set_user_id_program(heapwright: Heapwright, tmp_path: Path) -> None:
    program = compile_c(tmp_path / "prog", WORKER)
    program.chmod(0o755 | stat.S_ISUID)
    assert "set-user-ID" in refused(heapwright, tmp_path, "--", program)


def test_a_32_bit_program(heapwright: Heapwright, tmp_path: Path) -> None:
    program = compile_c(tmp_path / "prog", WORKER, "-m32")
    assert "32-bit" in refused(heapwright, tmp_path, "--", program)


def test_a_program_of_another_c_library(heapwright: Heapwright, tmp_path: Path) -> None:
    program = compile_c(tmp_path / "prog", WORKER, compiler="musl-gcc")
    assert "another C library (musl)" in refused(heapwright, tmp_path, "--", program)


def test_a_library_is_not_called_by_the_name_of_the_c_library_s_own(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    text = refused(heapwright, tmp_path, "-a", "glibc=/tmp/libany.so,lea", "--", "true")
    assert "'glibc' is the C library's own, not /tmp/libany.so" in text
