# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Of programs that were rebuilt: what leaves no account is refused with its reason."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.drag import instrumented
from heapwright.report.drag.words import remarks

from .conftest import Build, Rebuild, watch_rebuilt


@pytest.mark.parametrize("way", ["status", "abort", "child", "_exit"])
def test_drag_is_reported_for_every_kind_of_end(way: str, rebuild: Rebuild) -> None:
    """The child's hundred objects are the child's."""
    found = watch_rebuilt(rebuild("endings"), way)
    assert found.held_area == 1000 * 1500 + 500 * 500
    assert found.needed_area == 1000 * 1000 + 500 * 500
    assert found.provenance.signal == (signal.SIGABRT if way == "abort" else None)
    assert found.provenance.exit_status == {"status": 3, "abort": None}.get(way, 0)


def test_a_program_that_becomes_another_one_leaves_nothing(rebuild: Rebuild) -> None:
    with pytest.raises(HeapwrightError, match="it became another program"):
        watch_rebuilt(rebuild("endings"), "exec")


def test_a_program_that_is_killed_leaves_nothing(rebuild: Rebuild, tmp_path: Path) -> None:
    script = tmp_path / "kills"
    script.write_text(f'"{rebuild("endings")}" forever & sleep 0.5; kill -9 $!; wait $!\n')
    with pytest.raises(HeapwrightError, match="did not come to write its drag"):
        watch_rebuilt("sh", script)


def test_signals_for_the_command_reach_it(rebuild: Rebuild) -> None:
    program = rebuild("endings")
    command = [sys.executable, "-m", "heapwright", "drag", "--by", "instrumented", "--"]
    with subprocess.Popen([*command, program, "forever"], stderr=subprocess.PIPE) as process:
        while not _runs(program):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"it was ended by SIGTERM" in err
    assert not _runs(program)


def _runs(program: Path) -> bool:
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "exe").readlink() == program:
                return True
    return False


def test_a_program_that_was_not_rebuilt_is_refused(build: Build) -> None:
    with pytest.raises(HeapwrightError, match=r"no part of .* was rebuilt") as refused:
        watch_rebuilt(build("region"))
    assert "heapwright drag --flags" in (refused.value.hint or "")


def test_a_script_may_start_the_program(rebuild: Rebuild) -> None:
    found = watch_rebuilt("sh", "-c", f'"{rebuild("region")}"; exit 7')
    assert found.total_drag == 101 / 2
    assert found.provenance.exit_status == 7


def test_a_part_that_was_not_rebuilt_is_reported(rebuild: Rebuild, build: Build) -> None:
    library = build("late_library", "-shared", "-fPIC")
    found = watch_rebuilt(rebuild("late"), library)
    (site,) = [each for each in found.sites if each.bytes == 12345]
    assert site.frames[0].startswith("makeLate (late_library.c:")
    assert site.never_accessed.objects == 0, "the program used it"
    assert found.unseen.objects > 0, "the loader's own"
    assert any("not rebuilt" in each for each in remarks(found))


def test_a_command_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="cannot be started"):
        instrumented.watch((str(tmp_path / "nothing"),), "", os.environ)


def test_flags_name_no_folder_that_they_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a folder, with blanks"
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "lib" / "libheapwright-drag.so").touch()
    monkeypatch.setenv(native.VARIABLE, str(folder))
    with pytest.raises(HeapwrightError, match="no compiler's flags can name"):
        instrumented.flags()
