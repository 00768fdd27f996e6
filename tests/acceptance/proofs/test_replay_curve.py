# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A replay's live memory is the profile's, call by call: on one thread, and in recorded order."""

import csv
import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.base import native
from heapwright.base.errors import HeapwrightError

from .recording import needed, profiled, record
from .test_memusage import QUERY

FOUR_THREADS = """
import queue, threading
handed = queue.Queue()
begun = threading.Barrier(4)
def make(n):
    begun.wait()
    for i in range(3000):
        handed.put([str(n * i)] * (i % 40))
def take():
    begun.wait()
    for _ in range(3000):
        handed.get()
threads = [threading.Thread(target=make, args=(n,)) for n in range(2)]
threads += [threading.Thread(target=take) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def replayed(trace: Path, *options: str) -> list[tuple[int, int]]:
    """Live bytes and objects after each recorded call, as the replay had them."""
    try:
        program = native.program("replay")
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")
    plan, curve = trace.with_suffix(".plan"), trace.with_suffix(".curve")
    for words in (
        ["prepare", str(trace), "-o", str(plan), *options],
        ["run", str(plan), "--curve", str(curve)],
    ):
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    with curve.open(newline="") as file:
        return [(int(row["live_bytes"]), int(row["live_objects"])) for row in csv.DictReader(file)]


def agree(profile: Profile, curve: list[tuple[int, int]]) -> None:
    assert len(curve) == profile.provenance.events
    points = [point for point in profile.timeline if point.operation > 0]
    assert len(points) > 50
    for point in points:
        assert (point.live_bytes, point.live_objects) == curve[point.operation - 1], point
    assert profile.peak_live_bytes == max(size for size, _ in curve)
    assert profile.peak_live_objects == max(objects for _, objects in curve)
    assert curve[profile.peak.operation - 1][0] == profile.peak_live_bytes
    for phase in profile.phases:
        assert (phase.live_bytes, phase.live_objects) == curve[phase.operation - 1]


def test_one_thread(tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_text(QUERY)
    command = [needed("sqlite3", "sqlite3"), ":memory:", ".read query.sql"]
    record(command, tmp_path / "trace", cwd=tmp_path)
    profile = profiled(tmp_path / "trace")
    assert len(profile.threads) == 1
    agree(profile, replayed(tmp_path / "trace"))


def test_threads_in_recorded_order(tmp_path: Path) -> None:
    command = [needed("python3", "python3"), "-c", FOUR_THREADS]
    extra = {"PYTHONMALLOC": "malloc"}
    record(command, tmp_path / "trace", extra=extra)
    profile = profiled(tmp_path / "trace")
    assert len(profile.threads) >= 4
    assert profile.cross_thread_frees.count > 1000
    agree(profile, replayed(tmp_path / "trace", "--order", "recorded"))
