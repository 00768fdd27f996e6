# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What heapwright had started ends when it is killed, and what it leaves the next one removes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from heapwright.artefacts.trace.file import trace_info
from heapwright.base.errors import ExitCode

from .studies import write_study

pytestmark = pytest.mark.usefixtures("native")
PATIENCE_S = 120.0
SLEEPING = """
format = 1
name = "sleeping"
title = "a program that takes its time"
command = ["sh", "-c", "{script}"]
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """For temporary files. Its name is short, as that of a socket in it has to be."""
    with tempfile.TemporaryDirectory(prefix="hw-") as folder:
        yield Path(folder)


def script(folder: Path) -> str:
    """A child of a shell that both do not heed SIGTERM, and have the folder in their words."""
    return f"touch {folder}/begun; trap '' TERM; tail -f {folder}/begun; :"


def of_study(folder: Path) -> tuple[str, ...]:
    return "study", "run", str(write_study(folder, pause=600)), "-o", "results"


def of_command(verb: str) -> Callable[[Path], tuple[str, ...]]:
    return lambda folder: (verb, "--", "sh", "-c", script(folder))


def of_program(folder: Path) -> tuple[str, ...]:
    (folder / "sleeping.toml").write_text(SLEEPING.replace("{script}", script(folder)))
    return "programs", "run", str(folder / "sleeping.toml")


def of_recorded(folder: Path) -> tuple[str, ...]:
    of_program(folder)
    return "profile", "--program", str(folder / "sleeping.toml")


@pytest.mark.parametrize(
    "arguments", [of_study, of_command("profile"), of_command("explain"), of_program, of_recorded]
)
def test_the_next_run_removes_what_a_killed_one_left(
    arguments: Callable[[Path], tuple[str, ...]], tmp_path: Path, place: Path
) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GLIBC_TUNABLES")}
    environment |= {"TMPDIR": str(place), "HEAPWRIGHT_HOME": str(tmp_path / "home")}
    begun = tmp_path / "begun"
    words = [sys.executable, "-m", "heapwright"]
    with subprocess.Popen(
        [*words, *arguments(tmp_path)],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            await_start(process, begun)
            listed = [*words, "programs", "list"]
            subprocess.run(listed, env=environment, capture_output=True, check=True)
            assert list(place.iterdir()), "what belongs to the living stays"
        finally:
            process.send_signal(signal.SIGKILL)
    left = sorted(place.iterdir())
    assert left, "nothing would have to be removed"
    await_end_of(str(place), str(begun))
    done = subprocess.run(listed, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.OK
    told = [line for line in done.stderr.splitlines() if not line.startswith("next: ")]
    assert told == [], "what was left by others is removed silently"
    assert list(place.iterdir()) == []


SERVER = """
[server]
command = ["sh", "-c", "touch {run}/there; exec tail -f {run}/there"]
ready = { path = "{run}/there" }
"""


@pytest.mark.parametrize("verb", ["profile", "record"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_only_heapwright_ends_the_recorded_server(
    number: signal.Signals, verb: str, tmp_path: Path, place: Path
) -> None:
    begun = tmp_path / "begun"
    of_program(tmp_path)
    file = tmp_path / "sleeping.toml"
    file.write_text(file.read_text() + SERVER)
    status, said, _ = told_to_end([verb, "--program", file], number, tmp_path, place)
    assert "the server ended while" not in said, "whoever interrupts knows that it was ended"
    assert status in (ExitCode.OK, 128 + signal.SIGTERM), said
    assert list(place.iterdir()) == []
    await_end_of(str(begun))


@pytest.mark.parametrize(
    ("verb", "kept"),
    [
        ("record", "-o"),
        ("profile", "--json"),
        ("explain", "--json"),
        ("drag", "--json"),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_keeps_what_was_seen_and_leaves_nothing_else(
    number: signal.Signals, verb: str, kept: str, tmp_path: Path, place: Path
) -> None:
    if verb == "drag" and shutil.which("valgrind") is None:
        pytest.skip("no valgrind (package valgrind)")
    begun, output = tmp_path / "begun", tmp_path / "output"
    output.mkdir()
    command = ("sh", "-c", f"touch {begun}; exec tail -f {begun}")
    words = [verb, kept, "seen", "--", *command]
    before = set(Path("/dev/shm").iterdir())  # a killed process with this number left its own
    status, said, pid = told_to_end(words, number, tmp_path, place, cwd=output)
    assert "Traceback" not in said
    assert [path.name for path in output.iterdir()] == ["seen"], said
    if verb == "record":
        assert status == 128 + number, said
        assert trace_info(output / "seen").closed
    else:
        assert json.loads((output / "seen").read_text())["format"].startswith("heapwright "), said
    assert list(place.iterdir()) == []
    assert not set(Path("/dev/shm").glob(f"heapwright-*-{pid}-*")) - before
    await_end_of(str(begun))


def told_to_end(
    words: Sequence[str | Path],
    number: signal.Signals,
    folder: Path,
    place: Path,
    cwd: Path | None = None,
) -> tuple[int, str, int]:
    """The status and the words of heapwright that has a signal once its command runs, and its
    process."""
    with subprocess.Popen(
        [sys.executable, "-m", "heapwright", *words],
        cwd=cwd or folder,
        env={**os.environ, "TMPDIR": str(place), "HEAPWRIGHT_HOME": str(folder / "home")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            await_start(process, folder / "begun")
            process.send_signal(number)
            said, _ = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    return process.returncode, said, process.pid


def await_start(process: subprocess.Popen[Any], begun: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while not begun.exists():
        assert process.poll() is None, "it ended by itself"
        assert time.monotonic() < end, "nothing is run"
        time.sleep(0.01)


def await_end_of(*texts: str) -> None:
    """Until no process has one of these in its command line."""
    end = time.monotonic() + PATIENCE_S
    while any(text.encode() in words for words in command_lines() for text in texts):
        assert time.monotonic() < end, "what the killed one had started goes on"
        time.sleep(0.05)


def command_lines() -> Iterator[bytes]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield (folder / "cmdline").read_bytes()
        except OSError:
            continue
