# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""By valgrind: what cannot be seen is refused with its reason, and a part is called a part."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.drag import valgrind
from heapwright.report.drag.words import remarks

from .conftest import Build, Watch

KNOWN_AREA = 1000 * 1500 + 500 * 500
"""What endings.c holds until it ends."""


@pytest.mark.parametrize(
    ("way", "remark"),
    [
        ("status", "it left with status 3"),
        ("abort", "it was ended by SIGABRT"),
        ("child", "1 process that it started was not watched"),
        ("exec", "it became another program by exec, which was not watched"),
        ("_exit", None),
    ],
)
def test_drag_is_reported_for_every_kind_of_end(
    way: str, remark: str | None, build: Build, watch: Watch
) -> None:
    found = watch(build("endings"), way)
    assert found.held_area == KNOWN_AREA
    assert found.needed_area == 1000 * 1000 + 500 * 500
    assert found.never_freed.objects == 2
    assert list(remarks(found)) == ([remark] if remark else [])


def test_a_program_that_allocates_nothing_has_no_ratio(build: Build, watch: Watch) -> None:
    found = watch(build("endings"), "nothing")
    assert found.total_drag is None
    assert found.peak_increase is None
    assert found.objects == 0
    assert found.curves.allocated == ()


def test_an_interrupted_run_reports_its_drag_so_far(
    build: Build, watch: Watch, tmp_path: Path
) -> None:
    del watch  # it skips where nothing can be watched
    command = [sys.executable, "-m", "heapwright", "drag", "--json", "-", "--"]
    with subprocess.Popen(
        [*command, str(build("endings")), "forever"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        while not _started(build("endings")):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    found = json.loads(out)
    assert found["provenance"]["interrupted"]
    assert found["objects"] in (0, 1, 2)
    assert not _started(build("endings"))
    assert list(tmp_path.iterdir()) == [], "neither pipes nor cores are left behind"


def _started(program: Path) -> bool:
    """Whether valgrind runs it."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if str(program).encode() in words and words[0] == b"valgrind":
            return True
    return False


def test_a_statically_linked_program_is_refused(build: Build, watch: Watch) -> None:
    with pytest.raises(HeapwrightError, match="static"):
        watch(build("endings", "-static"), "status")


def test_a_program_with_its_own_malloc_is_refused(build: Build, watch: Watch) -> None:
    with pytest.raises(HeapwrightError, match=r"its malloc is that of .*own_malloc") as refusal:
        watch(build("own_malloc"))
    assert "instrumented" in refusal.value.hint


def test_a_program_that_is_not_there_is_refused(watch: Watch, tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="missing"):
        watch(tmp_path / "missing")


def test_without_valgrind_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert valgrind.missing() == "valgrind is not installed (package valgrind)"
    with pytest.raises(HeapwrightError) as refusal:
        valgrind.watch(("true",), "", {})
    assert refusal.value.hint == "apt-get install valgrind"


def test_without_the_compiled_parts_that_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    launcher = tmp_path / "valgrind"
    launcher.write_text("")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HEAPWRIGHT_NATIVE", str(tmp_path))
    assert "compiled parts" in (valgrind.missing() or "")
