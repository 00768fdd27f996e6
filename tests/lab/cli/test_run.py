# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright run`: the process becomes the command; a preload without effect is refused."""

import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import PeerAllocator
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.errors import ExitCode
from support.running import ran

from .tools import Heapwright, compile_c, forwarding, library

pytestmark = pytest.mark.usefixtures("native")
RUN = [sys.executable, "-m", "heapwright", "run"]
PATIENCE_S = 60
OWN_MALLOC = """
#include <stddef.h>
static char pool[1 << 20];
static size_t used;
void *malloc(size_t n) { void *p = pool + used; used += (n + 31) & ~(size_t)15; return p; }
void *calloc(size_t n, size_t s) { return malloc(n * s); }
void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
void free(void *p) { (void)p; }
int main(void) { return 0; }
"""


@pytest.fixture
def plain(tmp_path: Path) -> dict[str, str]:
    """An environment without a locale, in which Python sets one for itself."""
    kept = ("PATH", "HEAPWRIGHT_NATIVE", "PYTHONPATH")
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": str(tmp_path),
        "ODD": "two\nlines",
    }


@pytest.fixture(autouse=True)
def _stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this, a command that should be refused would replace the tests."""

    def refuse(file: str, words: Sequence[str], environment: Mapping[str, str]) -> None:
        raise AssertionError(f"{file} {words} would be started with {len(environment)} variables")

    monkeypatch.setattr(os, "execvpe", refuse)


def of_c(folder: Path, name: str, text: str, *flags: str) -> Path:
    return compile_c(folder / name, text, *flags)


def test_the_command_is_the_same_process_with_the_same_streams(plain: dict[str, str]) -> None:
    script = "echo $$; cat; grep -c libheapwright-lea.so /proc/$$/maps >&2; exit 7"
    with subprocess.Popen(
        [*RUN, "-a", "lea", "--", "sh", "-c", script],
        env=plain,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        out, err = process.communicate("of stdin\n", timeout=PATIENCE_S)
    assert out == f"{process.pid}\nof stdin\n"
    assert int(err) > 0
    assert process.returncode == 7


def test_the_environment_is_the_same_but_for_the_allocator(
    plain: dict[str, str], native: Path
) -> None:
    done = ran([*RUN, "-a", "lea", "--", "env", "-0"], env=plain | {"LD_PRELOAD": "libm.so.6"})
    variables = dict(each.split("=", 1) for each in done.stdout.split("\0")[:-1])
    lea = native / "lib" / "libheapwright-lea.so"
    assert variables == plain | {"LD_PRELOAD": f"{lea}:libm.so.6"}
    assert done.stderr == ""


def test_children_inherit_the_preload(plain: dict[str, str]) -> None:
    script = "sh -c 'grep -o -m1 libheapwright-lea.so /proc/$$/maps'; :"
    assert ran([*RUN, "-a", "lea", "--", "sh", "-c", script], env=plain).stdout == (
        "libheapwright-lea.so\n"
    )


def test_a_signal_ends_the_command_itself(plain: dict[str, str]) -> None:
    words = [*RUN, "-a", "lea", "--", "sh", "-c", "kill -SEGV $$"]
    assert ran(words, env=plain).returncode == -signal.SIGSEGV
    within = f"{shlex.join(words)}; exit $?"
    assert ran(["sh", "-c", within], env=plain).returncode == 128 + signal.SIGSEGV


def test_signals_reach_the_command(plain: dict[str, str]) -> None:
    script = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen(
        [*RUN, "-a", "lea", "--", "sh", "-c", script], env=plain, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 5
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("before", "ignored"),
    [
        ("", set()),
        ("trap '' HUP; ", {signal.SIGHUP}),
        ("export SYSTEMD_EXEC_PID=$$; ", {signal.SIGPIPE}),
        ("export SYSTEMD_EXEC_PID=1; ", set()),
    ],
)
def test_signals_are_ignored_as_before(
    plain: dict[str, str], before: str, ignored: set[signal.Signals]
) -> None:
    words = [*RUN, "-a", "lea", "--", "grep", "SigIgn", "/proc/self/status"]
    done = ran(["sh", "-c", f"{before}exec {shlex.join(words)}"], env=plain)
    mask = int(done.stdout.split()[1], 16)
    assert {each for each in signal.Signals if mask & 1 << (each - 1)} == ignored


def test_the_command_has_the_terminal(plain: dict[str, str]) -> None:
    outer, inner = pty.openpty()
    try:
        termios.tcsetwinsize(inner, (33, 77))
        script = "test -t 0 && test -t 1 && test -t 2 && stty size"
        words = [*RUN, "-a", "lea", "--", "sh", "-c", script]
        done = subprocess.run(
            words,
            env=plain,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0
        assert select.select([outer], [], [], 0)[0]
        assert os.read(outer, 100) == b"33 77\r\n"
    finally:
        os.close(outer)
        os.close(inner)


def test_the_settings_of_an_allocator_reach_it(plain: dict[str, str]) -> None:
    done = ran(
        [*RUN, "-a", "granary", "--set", "statistics=exit", "--", "perl", "-e", "1"], env=plain
    )
    assert done.stderr.startswith("granary ")
    tunables = ["--set", "glibc.malloc.arena_max=1", "--set", "MALLOC_TOP_PAD_=65536"]
    own = plain | {"GLIBC_TUNABLES": "glibc.malloc.mxfast=0"}
    done = ran([*RUN, "-a", "glibc-no-tcache", *tunables, "--", "env"], env=own)
    assert (
        "GLIBC_TUNABLES=glibc.malloc.mxfast=0:glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"
        in done.stdout.splitlines()
    )
    assert "MALLOC_TOP_PAD_=65536" in done.stdout.splitlines()
    assert "LD_PRELOAD" not in done.stdout


def test_a_library_by_its_path_under_a_script(plain: dict[str, str], tmp_path: Path) -> None:
    allocator = forwarding(tmp_path / "mine.so")
    script = tmp_path / "script"
    script.write_text(
        f"#!/usr/bin/env python3\nprint('{allocator}' in open('/proc/self/maps').read())"
    )
    script.chmod(0o755)
    done = ran([*RUN, "-a", "./mine.so", "--", "./script"], env=plain, cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


def refused(heapwright: Heapwright, *words: str | Path) -> str:
    done = heapwright("run", *words)
    assert done.status == ExitCode.NOT_STARTED, done
    assert done.out == ""
    first, *hints = done.err.splitlines()
    assert first.startswith("heapwright: ")
    assert all(line.startswith("  ") for line in hints)
    return done.err


def test_what_cannot_be_the_allocator_is_refused(heapwright: Heapwright, tmp_path: Path) -> None:
    assert "unknown allocator 'granry'" in refused(heapwright, "-a", "granry", "--", "true")
    assert "does not exist" in refused(heapwright, "-a", "./none.so", "--", "true")
    useless = library(tmp_path / "useless.so", "int x;")
    assert "defines no malloc" in refused(heapwright, "-a", useless, "--", "true")
    broken = forwarding(tmp_path / "broken.so", "_exit(9)", limit=3)
    assert "would have no effect" in refused(heapwright, "-a", broken, "--", "true")
    (tmp_path / "a b").mkdir()
    parted = forwarding(tmp_path / "a b" / "mine.so")
    assert "LD_PRELOAD cannot hold" in refused(heapwright, "-a", parted, "--", "true")


def test_an_allocator_that_is_not_installed_is_refused(
    heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapwright.experiment.discovery.Discovery._find_peer", _not_installed)
    said = refused(heapwright, "-a", "jemalloc", "--", "true")
    assert "jemalloc cannot be used: not installed (package libjemalloc2)" in said
    assert "apt-get install libjemalloc2" in said


def _not_installed(_self: object, entry: PeerAllocator) -> Allocator:
    reason = f"not installed (package {entry.package})"
    return Allocator(name=entry.name, kind=Kind.PEER, usable=False, effective=False, reason=reason)


def test_a_program_that_no_preload_reaches_is_refused(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    main = "int main(void) { return 0; }"
    static = of_c(tmp_path, "static", main, "-static")
    assert "is statically linked" in refused(heapwright, "-a", "lea", "--", static)
    privileged = of_c(tmp_path, "privileged", main)
    privileged.chmod(0o4755)
    assert "is set-user-ID" in refused(heapwright, "-a", "lea", "--", privileged)
    other = compile_c(tmp_path / "other", main, compiler="musl-gcc")
    assert "another C library (musl)" in refused(heapwright, "-a", "lea", "--", other)
    assert "command not found" in refused(heapwright, "-a", "lea", "--", "no-such-command")


@pytest.mark.parametrize("flags", [(), ("-no-pie",)])
@pytest.mark.parametrize("name", ["lea", "glibc"])
def test_a_program_with_a_malloc_of_its_own_is_refused(
    heapwright: Heapwright, tmp_path: Path, flags: tuple[str, ...], name: str
) -> None:
    program = of_c(tmp_path, "own", OWN_MALLOC, *flags)
    said = refused(heapwright, "-a", name, "--", program)
    assert f"{name} has no effect in {program}: its malloc comes from {program}" in said
    assert "the program defines malloc itself" in said


def test_a_command_that_cannot_be_started_is_an_error(
    heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(7, "Argument list too long")

    handlers = {each: signal.getsignal(each) for each in (*signal.Signals,)}
    monkeypatch.setattr(os, "execvpe", fail)
    try:
        said = refused(heapwright, "-a", "lea", "--", "true")
    finally:
        for number, handler in handlers.items():
            if handler is not None and number not in {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, handler)
    assert "true cannot be started: Argument list too long" in said


def test_the_command_line_is_checked_first(heapwright: Heapwright) -> None:
    assert heapwright("run", "--", "true").status == ExitCode.BAD_INPUT
    for words in (["-a", "lea"], ["-a", "lea", "--"], ["-a", "lea", "ls"]):
        assert heapwright("run", *words).status == ExitCode.BAD_INPUT
