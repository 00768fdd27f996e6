# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Each page of a study that is kept with its runs is what `report` makes of these runs."""

import hashlib
import re
from functools import cache
from pathlib import Path

import pytest

from heapwright.commands.report import Study, read_study
from heapwright.report.study.markdown import conclusions_of, page

RESULTS = Path(__file__).parents[3] / "docs" / "results"
FOLDERS = sorted(path.parent for path in RESULTS.glob("*/design.json"))
MOST_BYTES = 2_000_000
DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


@cache
def study_of(folder: Path) -> Study:
    return read_study([folder])


def test_there_are_some() -> None:
    assert FOLDERS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_page_is_that_of_its_runs(folder: Path) -> None:
    committed = (folder / "README.md").read_text(encoding="utf-8")
    made = page(study_of(folder).view, conclusions_of(committed))
    assert DATE.sub("DATE", made) == DATE.sub("DATE", committed)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_runs_are_of_the_study_beside_them(folder: Path) -> None:
    study = study_of(folder)
    text = (folder / "study.toml").read_bytes()
    assert hashlib.sha256(text).hexdigest() == study.results.design.sha256
    assert study.view.hosts
    assert study.view.analysis.study.ok > 0


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_folder_is_small(folder: Path) -> None:
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < MOST_BYTES
