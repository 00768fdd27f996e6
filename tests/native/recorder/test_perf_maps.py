# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of JIT compilers have the names that their process wrote to a perf map."""

import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.profile.run import profile_trace

from .bench import Bench, Recorded

pytestmark = pytest.mark.skipif(
    platform.machine() not in {"x86_64", "AMD64"}, reason="the program writes code for x86-64"
)
SECOND = "second (second.js:12)"


@contextmanager
def recorded(recording: Bench, what: str) -> Iterator[Recorded]:
    done = recording.record([recording.program("compiles_itself.c"), what], "--stacks")
    try:
        recording.sound(done)
    finally:
        number = int(done.out)
        Path(f"/tmp/perf-{number}.map").unlink(missing_ok=True)
        Path(f"/tmp/heapwright-perf-{number}").unlink(missing_ok=True)
    yield done


def large(profile: Profile) -> dict[str, tuple[int, int]]:
    """Allocations and bytes of the sites with large blocks, by their innermost frame."""
    return {
        site.frames[0]: (site.allocations, site.bytes)
        for site in profile.sites
        if site.bytes >= 100_000
    }


@pytest.mark.parametrize("what", ["map", "damaged"])
def test_the_trace_keeps_the_names_of_the_map(recording: Bench, what: str) -> None:
    with recorded(recording, what) as done:
        found = profile_trace(done.path)
        assert large(found) == {"first of two": (3, 150_000), SECOND: (4, 240_000)}
        site = next(each for each in found.sites if each.frames[0] == SECOND)
        assert any(frame.startswith("main") for frame in site.frames[1:])
        assert site.own[0] == 0


@pytest.mark.parametrize("what", ["link", "old"])
def test_a_map_of_another_is_not_believed(recording: Bench, what: str) -> None:
    with recorded(recording, what) as done:
        found = profile_trace(done.path)
        assert sorted(large(found).values()) == [(3, 150_000), (4, 240_000)]
        assert all(frame.startswith("0x") for frame in large(found))


@pytest.mark.programs
def test_functions_of_node_have_their_lines(recording: Bench, tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        "const kept = [];\n"
        "function fill(n) {\n"
        "  for (let i = 0; i < n; i++) kept.push(Buffer.allocUnsafeSlow(200000).fill(1));\n"
        "}\n"
        "function work() { fill(50); }\n"
        "work();\n"
        "console.log(process.pid);\n",
        encoding="utf-8",
    )
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed (package nodejs)")
    options = (
        *("--perf-basic-prof", "--interpreted-frames-native-stack"),
        *("--no-logfile-per-isolate", f"--logfile={tmp_path / 'v8.log'}"),
    )
    done = recording.record([node, *options, script], "--stacks")
    Path(f"/tmp/perf-{int(done.out)}.map").unlink()
    own = [
        [site.frames[place] for place in site.own][:2]
        for site in profile_trace(done.path).sites
        if site.bytes >= 1_000_000
    ]
    assert ["fill (script.js:2)", "work (script.js:5)"] in own
