# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The counting libraries: each allocator has one, and it counts what its threads do."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.base import native
from support.running import ran

ROOT = Path(__file__).parents[3]
CATALOGUE = read_catalogue(ROOT / "catalogue" / "allocators.toml")
PAIRS = 1000
# Two threads take turns, PAIRS times each; then one more goes on alone. What the interpreter itself
# allocates is counted as well, but it needs little between two readings.
ASK = f"""
import json, threading
from ctypes import CDLL, POINTER, Structure, byref, c_size_t, c_uint64, c_void_p
class Events(Structure):
    _fields_ = [(name, c_uint64) for name in (
        "lock_takes", "lock_waits", "atomic_operations", "hand_overs", "written_lines",
        "shared_lines", "writes_to_shared_lines", "unknown", "lock_hand_overs")]
c = CDLL(None)
c.malloc.argtypes, c.malloc.restype = [c_size_t], c_void_p
c.free.argtypes = [c_void_p]
def read():
    events = Events()
    c.heapwright_events(byref(events))
    return {{name: getattr(events, name) for name, _ in Events._fields_}}
def use():
    for _ in range({PAIRS}):
        c.free(c.malloc(40))
        turn.wait()
turn = threading.Barrier(2)
pair = [threading.Thread(target=use) for _ in range(2)]
start = read()
for thread in pair: thread.start()
for thread in pair: thread.join()
both = read()
turn = threading.Barrier(1)
alone = threading.Thread(target=use)
alone.start()
alone.join()
print(json.dumps([start, both, read()]))
"""


@pytest.fixture(scope="module", params=[entry.name for entry in CATALOGUE.composed])
def counts(request: pytest.FixtureRequest) -> list[dict[str, int]]:
    """What was counted at the start, after two threads, and after another one."""
    done = ran(
        [sys.executable, "-c", ASK],
        env=os.environ | {"LD_PRELOAD": str(native.counting_library(request.param))},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert isinstance(counts, list)
    return counts


def test_counts_never_go_back(counts: list[dict[str, int]]) -> None:
    for before, after in pairwise(counts):
        assert all(after[name] >= before[name] for name in before)


def test_counts_hang_together(counts: list[dict[str, int]]) -> None:
    for each in counts:
        assert each["lock_waits"] <= each["lock_takes"]
        assert each["shared_lines"] <= each["written_lines"]
        assert each["unknown"] == 0
    assert counts[-1]["written_lines"] > 0


@pytest.mark.parametrize("name", ["kingsley", "lea"])
def test_one_lock_around_everything_is_counted_as_such(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env=os.environ | {"LD_PRELOAD": str(native.counting_library(name))},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    start, both, end = json.loads(done.stdout)
    # A lock a call, two atomic operations a lock, and with each turn it changes hands.
    takes = both["lock_takes"] - start["lock_takes"]
    atomic = both["atomic_operations"] - start["atomic_operations"]
    assert takes >= 4 * PAIRS
    assert 2 * takes * 0.9 <= atomic <= 2 * takes + 4 * (both["lock_waits"] - start["lock_waits"])
    assert both["hand_overs"] - start["hand_overs"] >= PAIRS / 2
    assert both["shared_lines"] >= 1
    assert both["writes_to_shared_lines"] - start["writes_to_shared_lines"] >= takes
    assert end["lock_takes"] - both["lock_takes"] >= 2 * PAIRS
    assert end["hand_overs"] - both["hand_overs"] < PAIRS / 2


def test_an_ordinary_library_has_nothing_of_it() -> None:
    for entry in CATALOGUE.composed:
        assert b"heapwright_events" not in native.library(entry.name).read_bytes()
