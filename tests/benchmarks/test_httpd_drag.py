# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag of httpd's pools: a whole server is watched from its start to its end."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "httpd" / "drag.py"


@pytest.fixture(scope="module")
def drag() -> ModuleType:
    spec = importlib.util.spec_from_file_location("httpd_drag", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPT.parent)
        spec.loader.exec_module(module)
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
