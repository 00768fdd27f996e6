# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The script that measures stalls under attach counts requests, recordings and late answers."""

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "attach_stalls.py"


@pytest.fixture(scope="module")
def stalls() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attach_stalls", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.programs
def test_the_script_records_a_loaded_server(
    stalls: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server (package redis-server)")
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), "2", "5"])
    monkeypatch.setattr(stalls, "GOAL_MS", float("inf"))  # the machine may be busy
    assert stalls.main() == 0
    alone, recorded = capsys.readouterr().out.splitlines()[2:4]
    assert alone.startswith("| alone, 1 s |")
    assert recorded.startswith("| 2 recordings, ")
    for row in (alone, recorded):
        requests, failed = re.findall(r"[\d,.]+", row.split("|", 2)[2])[:2]
        assert int(requests.replace(",", "")) > 100
        assert failed == "0"


def test_a_late_or_wrong_answer_is_counted(stalls: ModuleType) -> None:
    answers = stalls.Answers([1.0] * 998 + [51.0, 800.0], failed=3)
    assert answers.row("t") == "| t | 2,000 | 3 | 1.00 | 800.00 | 800.0 | 2 |"
