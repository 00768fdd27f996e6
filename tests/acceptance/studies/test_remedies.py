# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The remedies of 2018 against false sharing, composed as the study file says."""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.study.file import read_study
from heapwright.artefacts.workload.library import workload_path
from support.running import ran

STUDY = Path(__file__).parents[3] / "catalogue/studies/fischer-2018-false-sharing-lines.toml"
NAMES = ("slow-start", "slow-start-line", "tcache", "tcache-own")
Sharing = tuple[int, int]
"""Lines that were shared actively and passively."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with the four compositions; each has passed the conformance suite."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ (package g++)")
    folder = tmp_path_factory.mktemp("remedies")
    levels = read_study(STUDY).study.factors["allocator"].items
    commands = {level.name: level.missing for level in levels if level.missing}
    assert sorted(commands) == sorted(NAMES)
    for command in commands.values():
        _, *words = shlex.split(command)
        done = ran(
            [sys.executable, "-m", "heapwright", *words],
            env=os.environ | {"HEAPWRIGHT_HOME": str(folder)},
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert "cases passed" in done.stdout
    return folder


def shared(home: Path, name: str, workload: str) -> Sharing:
    words = ["--threads", "16", "--writes", "1000", "--observe", "lines"]
    library = home / "allocators" / name / f"libheapwright-{name}.so"
    done = ran([workload_path(workload), *words], env=os.environ | {"LD_PRELOAD": str(library)})
    assert done.returncode == 0, done.stderr
    sharing = json.loads(done.stdout)["false_sharing"]
    return sharing["active"], sharing["passive"]


def test_a_line_at_the_first_fetch_ends_active_sharing(home: Path) -> None:
    active, passive = shared(home, "slow-start", "cache-thrash")
    assert active > 1000
    assert passive == 0
    assert shared(home, "slow-start-line", "cache-thrash") == (0, 0)
    assert shared(home, "slow-start-line", "cache-scratch")[1] > 1000, "frees are as before"


def test_a_cache_for_objects_of_the_own_arena_ends_passive_sharing(home: Path) -> None:
    active, passive = shared(home, "tcache", "cache-scratch")
    assert active == 0
    assert passive > 1000
    assert shared(home, "tcache-own", "cache-scratch") == (0, 0)
