# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that granary has free returns to the system in time, at once, or never.

Nothing here asserts a duration. A program waits until less than a tenth of its memory is resident,
or until a limit that is far beyond the stated time.
"""

import json
import subprocess
from pathlib import Path

import pytest

from .conftest import preloaded

LIMIT_MS = 60_000
MEBIBYTES = 128
KEEP = "return=never,background=on"


def left(
    program: Path, allocator: str, kind: str, how: str, *, limit_ms: int, settings: str
) -> float:
    """The part of what was resident at most that still is in the end."""
    done = subprocess.run(
        [program, kind, str(MEBIBYTES), "3", how, str(limit_ms)],
        env=preloaded(allocator, HEAPWRIGHT_GRANARY=settings),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    said: dict[str, int] = json.loads(done.stdout)
    taken = said["most"] - said["before"]
    assert taken > MEBIBYTES << 19
    return (said["last"] - said["before"]) / taken


@pytest.mark.parametrize("kind", ["small", "large", "mixed"])
@pytest.mark.parametrize(
    ("settings", "how"),
    [
        ("return=at-once", "QUIET"),
        ("return=250ms,background=on", "QUIET"),
        ("return=2s,background=on", "QUIET"),
        ("return=250ms", "BUSY"),
        ("", "BUSY"),
    ],
)
def test_memory_is_returned(
    granary: str, returning: Path, kind: str, settings: str, how: str
) -> None:
    assert left(returning, granary, kind, how, limit_ms=LIMIT_MS, settings=settings) < 0.1


@pytest.mark.parametrize("kind", ["small", "mixed"])
@pytest.mark.parametrize("how", ["QUIET", "BUSY"])
def test_memory_is_kept_if_the_setting_is_never(
    granary: str, returning: Path, kind: str, how: str
) -> None:
    assert left(returning, granary, kind, how, limit_ms=1500, settings=KEEP) > 0.5


def test_the_check_detects_memory_that_is_not_returned(granary: str, returning: Path) -> None:
    """Private heaps give nothing back, however long one waits."""
    assert granary
    assert left(returning, "private", "small", "BUSY", limit_ms=1500, settings="") > 0.5
