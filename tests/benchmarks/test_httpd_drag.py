# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag of httpd's pools: a whole server is watched from its start to its end."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from support.scripts import ROOT, load_script


@pytest.fixture(scope="module")
def drag() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks" / "httpd")
        module = load_script("benchmarks/httpd/drag.py")
    if reason := module.missing():
        pytest.skip(f"{reason} (packages apache2-bin, libapr1-dev, valgrind)")
    return module


@pytest.mark.slow
def test_requests_allocate_in_a_watched_server(drag: ModuleType, tmp_path: Path) -> None:
    kept = tmp_path / "small.json"
    once = drag.drag_of("small.txt", 1)
    asked = drag.drag_of("small.txt", 20, kept)
    assert once.objects > 1000, "the server reads its configuration into pools"
    assert asked.objects > once.objects + 19 * 10
    assert asked.total_drag >= 1
    assert asked.provenance.exit_status == 0
    assert asked.provenance.children == 0
    assert asked.oddities == type(asked.oddities)()
    assert json.loads(kept.read_text())["objects"] == asked.objects


@pytest.mark.slow
def test_a_wrong_answer_is_reported(drag: ModuleType) -> None:
    with pytest.raises(drag.DragError, match="an answer of none is wrong: status 404"):
        drag.drag_of("none", 1)
