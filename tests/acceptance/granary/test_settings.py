# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Granary does as it is set, from outside and by the program, and says what it cannot be set to."""

import errno
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from .conftest import OPTIONS, PROGRAM, ROOT, SETTINGS, Ask


def test_a_program_sets_and_reads_settings(ask: Ask) -> None:
    answer = ask("settings")
    assert answer.lines == [
        ("return", "250ms (5)"),
        ("set", "0"),
        ("return", "at-once (7)"),
        ("wrong", str(errno.EINVAL)),
        ("unknown", str(errno.ENOENT)),
        ("return", "at-once (7)"),
        ("colour", " (0)"),
        ("cut", "7 at-"),
        ("measured", "7"),
    ]
    assert answer.err == ""


def test_the_environment_sets_them_before_the_program(ask: Ask) -> None:
    assert ask("settings", "return=2s").lines[0] == ("return", "2000ms (6)")


def test_a_wrong_setting_is_reported_in_one_line_and_the_others_hold(ask: Ask) -> None:
    answer = ask("settings", "colour=red,return=never")
    assert answer.lines[0] == ("return", "never (5)")
    assert answer.err == (
        f"heapwright: {SETTINGS}: there is no setting 'colour'; there are return, background, "
        "huge-pages, guard, sample, statistics, format, to\n"
    )
    answer = ask("settings", "return=often")
    assert answer.lines[0] == ("return", "250ms (5)")
    assert answer.err.count("\n") == 1
    assert "return cannot be 'often'" in answer.err
    assert answer.err.endswith("; it stays 250ms\n")


def test_free_memory_is_given_back_when_the_program_asks(ask: Ask, allocator: str) -> None:
    """The hardened form closes what is freed of large objects, and so has given it back already."""
    answer = ask("purge", "return=never")
    assert answer["dirty"] == ("0" if allocator == "granary-hardened" else "1")
    assert answer["returned"] == "1"
    assert answer["left"] == "0"


def test_free_memory_is_given_back_in_the_background(ask: Ask) -> None:
    answer = ask("idle", "background=on,return=20ms")
    assert answer["left"] == "0"
    assert answer["threads"] == "2"


def test_by_default_the_background_returns_memory_of_a_process_with_threads(ask: Ask) -> None:
    """Its thread starts while much memory waits, and ends when it has been returned."""
    answer = ask("idle-with-thread", "return=20ms")
    assert answer.lines == [("left", "0"), ("threads", "2")]


@pytest.mark.parametrize("what", ["wait-alone", "wait-after-thread"])
def test_by_default_a_process_without_threads_gets_no_background_thread(
    ask: Ask, allocator: str, what: str
) -> None:
    answer = ask(what, "return=20ms")
    assert answer["threads"] == "1"
    assert answer["left"] == ("0" if allocator == "granary-hardened" else "1")


def test_the_background_starts_outside_of_the_locks_of_the_c_library(ask: Ask) -> None:
    for settings in ("", "return=never", "background=on"):
        assert ask("join-many", settings)["joined"] == "1"


def test_a_background_that_is_off_returns_nothing(ask: Ask, allocator: str) -> None:
    answer = ask("wait-with-thread", "return=20ms,background=off")
    assert answer["threads"] == "2"
    assert answer["left"] == ("0" if allocator == "granary-hardened" else "1")


def test_the_background_can_be_turned_on_and_off(ask: Ask) -> None:
    assert ask("set-background").lines == [("threads", "1"), ("threads", "2"), ("threads", "1")]


def test_the_background_is_there_after_a_fork_and_ends_with_the_process(ask: Ask) -> None:
    answer = ask("fork", "background=on,return=20ms")
    assert answer.lines == [
        ("threads", "2"),
        ("threads", "2"),
        ("left", "0"),
        ("child", "0"),
    ]


def test_the_background_does_not_keep_a_process_alive(ask: Ask) -> None:
    answer = ask("leave-first", "background=on")
    assert answer.out == "last\n"
    assert answer.status == 0


def test_without_the_background_setting_no_thread_is_started(ask: Ask) -> None:
    assert ask("fork").lines[:2] == [("threads", "1"), ("threads", "1")]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to run as somebody else")
def test_a_setuid_program_ignores_the_environment(library: Path) -> None:
    """Linked with granary, for what is preloaded is not loaded there either."""
    shown = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        linked = Path(shutil.copy(library, folder / library.name))
        options: list[str | Path] = [
            *OPTIONS,
            f"-I{ROOT / 'include'}",
            PROGRAM,
            linked,
            f"-Wl,-rpath,{folder}",
        ]
        subprocess.run(["cc", *options, "-o", folder / "asked"], check=True)
        for mode in (0o755, 0o4755):
            (folder / "asked").chmod(mode)
            done = subprocess.run(
                [folder / "asked", "settings"],
                env={SETTINGS: "return=3s"},
                user=65534,
                capture_output=True,
                text=True,
                check=True,
            )
            shown.append(done.stdout.splitlines()[0])
    assert shown == ["return=3000ms (6)", "return=250ms (5)"]
