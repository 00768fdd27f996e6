# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Published tables are named inside the study's folder, and kept with the results."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from heapwright.artefacts.study.published import PublishedSource, keep, read_lines
from heapwright.base.errors import HeapwrightError


def source(file: str) -> PublishedSource:
    return PublishedSource.model_validate({"file": file, "kind": "means", "title": "Instrument"})


@pytest.mark.parametrize("file", ["/etc/passwd.csv", "../secret.csv", "a/../../b.csv", "table.txt"])
def test_a_table_lies_below_the_study(file: str) -> None:
    with pytest.raises(ValidationError, match="below the folder of the study"):
        source(file)


def test_tables_are_kept_with_the_results(tmp_path: Path) -> None:
    origin, folder = tmp_path / "studies", tmp_path / "results"
    (origin / "published").mkdir(parents=True)
    (origin / "published" / "a.csv").write_text("response,mean\ntime,1\n")
    keep([source("published/a.csv")], origin, folder)
    (line,) = read_lines(folder / "published" / "a.csv", "means")
    assert line.values == {"mean": 1.0}


def test_a_table_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match=r"published/none\.csv cannot be read"):
        keep([source("published/none.csv")], tmp_path, tmp_path / "results")
    with pytest.raises(HeapwrightError, match=r"none\.csv cannot be read"):
        read_lines(tmp_path / "none.csv", "means")
