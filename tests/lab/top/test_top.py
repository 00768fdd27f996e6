# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright top` shows the memory of a process, costs little, and ends as it should."""

import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import pytest

from heapwright.look.watch import Budget, Heap, walk
from heapwright.report.console import make_console
from heapwright.report.top import Figure, Screen, SizeLine, drawn, line

GROWING = """
import sys
kept = []
print("ready", flush=True)
for line in sys.stdin:
    kept += [bytearray(5000) for _ in range(int(line))]
    print("done", flush=True)
"""
TOP = (sys.executable, "-m", "heapwright", "top")


@contextmanager
def growing() -> Iterator["subprocess.Popen[str]"]:
    """A process that keeps N blocks of 5,000 bytes for each line N of its input."""
    with subprocess.Popen(
        [sys.executable, "-c", GROWING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def grow(process: "subprocess.Popen[str]", blocks: int) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{blocks}\n")
    process.stdin.flush()
    process.stdout.readline()


def test_the_live_bytes_and_sizes_are_those_of_the_program() -> None:
    with growing() as process:
        before = walk(process.pid)
        grow(process, 1000)
        after = walk(process.pid)
    assert isinstance(before, Heap)
    assert isinstance(after, Heap)
    assert after.live - before.live == pytest.approx(1000 * 5008, rel=0.02)
    sizes = {each.least: each.blocks for each in after.sizes}
    old = {each.least: each.blocks for each in before.sizes}
    assert sizes[4096] - old.get(4096, 0) == pytest.approx(1000, abs=20)
    assert sum(each.bytes for each in after.sizes) == pytest.approx(after.live, rel=0.02)


def test_one_reading_is_printed() -> None:
    with growing() as process:
        grow(process, 3000)
        done = subprocess.run(
            [*TOP, "--once", str(process.pid)], capture_output=True, text=True, check=True
        )
    rows = {each.split()[0]: each for each in done.stdout.splitlines() if each}
    assert {"resident", "live", "held", "blocks"} <= rows.keys()
    assert "\x1b" not in done.stdout
    assert f"({process.pid})" in done.stdout


def test_a_pipe_gets_lines_until_the_process_ends() -> None:
    with (
        growing() as process,
        subprocess.Popen(
            [*TOP, "--interval", "0.1", str(process.pid)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as top,
    ):
        assert top.stdout is not None
        assert "resident" in top.stdout.readline()
        grow(process, 5000)
        assert "live" in top.stdout.readline()
        process.kill()
        process.wait()
        _, errors = top.communicate()
        assert top.returncode == 1
    assert f"process {process.pid} (" in errors
    assert "ended" in errors


def test_ctrl_c_restores_the_terminal() -> None:
    control, terminal = pty.openpty()
    try:
        before = termios.tcgetattr(terminal)
        with growing() as process:
            top = subprocess.Popen(
                [*TOP, str(process.pid)], stdin=terminal, stdout=terminal, stderr=terminal
            )
            shown = b""
            while b"resident" not in shown:
                shown += os.read(control, 4096)
            top.send_signal(signal.SIGINT)
            while b"\x1b[?1049l" not in shown:
                shown += os.read(control, 4096)
            assert top.wait() == 0
        assert b"\x1b[?25h" in shown  # the cursor
        assert b"Traceback" not in shown
        assert termios.tcgetattr(terminal) == before
    finally:
        os.close(control)
        os.close(terminal)


def test_a_process_that_does_not_exist_is_refused() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    done = subprocess.run([*TOP, str(process.pid)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no process" in done.stderr


@pytest.mark.parametrize("cost", [0.001, 0.05, 2.0])
def test_a_budget_spreads_the_cost(cost: float) -> None:
    now, spent = 0.0, 0.0
    budget = Budget(0.01, 1.0, clock=lambda: now, spent=lambda: spent)
    for _ in range(50):
        budget.begin()
        now, spent = now + cost * 3, spent + cost
        budget.end()
        now = max(now, budget.due)
    assert spent / now <= 0.0101
    assert now >= 50


def screen(notes: tuple[str, ...] = ()) -> Screen:
    return Screen(
        pid=7,
        name="program",
        threads=3,
        processor=0.5,
        cost=0.01,
        figures=[
            Figure("resident", 3 << 20, 1024.0, -2048.0),
            Figure("live", None),
            Figure("blocks", 12345, -7.0, 9.0, is_bytes=False),
        ],
        sizes=[SizeLine(1 << power, power, power << 20, 10.0 * power) for power in range(4, 24)],
        walk_every=4.0,
        notes=notes,
    )


def test_a_line_has_each_figure_with_its_rate() -> None:
    assert line(screen(), "12:00:00") == (
        "12:00:00  resident 3.0 MiB  (+1.0 KiB)  live -  blocks 12,345  (-7)"
    )


@pytest.mark.parametrize("width", [30, 45, 80, 120])
def test_the_screen_fits_the_width(width: int) -> None:
    out = StringIO()
    make_console(out, width=width).print(drawn(screen(("a note " * 12,)), width))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert any("since the start" in each for each in lines) == (width >= 60)
    assert sum("from" in each for each in lines) == 12
