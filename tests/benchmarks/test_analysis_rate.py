# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The runs that the analysis is timed on are those of a whole study, for both sides the same."""

import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from heapwright.artefacts.study_results.reader import open_results
from support.scripts import load_script


@pytest.fixture(scope="module")
def rate() -> ModuleType:
    return load_script("benchmarks/analysis_rate.py")


def test_both_sides_read_the_same_runs(rate: ModuleType, tmp_path: Path) -> None:
    assert rate.write_runs(tmp_path, rate.design_of(1)) == 3888
    ours = open_results(tmp_path / "results").frame()
    theirs = pl.read_csv(tmp_path / "runs.csv")
    assert ours.height == theirs.height == 3888
    assert ours["time"].to_list() == theirs["time"].to_list()
    assert ours["size"].to_list() == theirs["size"].to_list()


def test_a_cost_is_of_the_command_alone(rate: ModuleType, tmp_path: Path) -> None:
    cost = rate.cost_of([sys.executable, "-c", "held = bytearray(50_000_000)"], tmp_path)
    assert cost.seconds > 0
    assert cost.peak_bytes > 50_000_000
    with pytest.raises(SystemExit, match="failed"):
        rate.cost_of([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)
