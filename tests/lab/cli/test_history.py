# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`compare --store` and `history` from end to end."""

import re
from pathlib import Path

import pytest

from heapwright.artefacts.comparison.document import Comparison

from .tools import Heapwright, read

pytestmark = pytest.mark.usefixtures("native")


@pytest.fixture
def document(heapwright: Heapwright, worker: Path, tmp_path: Path) -> Comparison:
    """A comparison as it was stored, with the revision r0."""
    done = heapwright(
        "compare", "-n", "2", "-a", "glibc,lea", "--store", "kept", "--revision", "r0",
        "--", worker, "100",
    )  # fmt: skip
    assert done.status == 0, done.err
    (file,) = (tmp_path / "kept").glob("*.json")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d{6}Z?-r0\.json", file.name), file.name
    assert f"stored: kept/{file.name}" in done.out
    stored = read(file)
    assert stored.revision == "r0"
    return stored


def write(folder: Path, document: Comparison, number: int, factor: float) -> None:
    """A document of a later day, in which lea takes `factor` of its time."""
    day = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00+00:00"
    effects = [
        each.model_copy(update={"ratio": each.ratio * factor, "low": None, "high": None})
        if (each.allocator, each.response) == ("lea", "time")
        else each
        for each in document.effects
    ]
    later = document.model_copy(
        update={
            "environment": document.environment.model_copy(update={"date": day}),
            "revision": f"r{number}",
            "effects": tuple(effects),
        }
    )
    (folder / f"{number:03}.json").write_text(later.to_json(), encoding="utf-8")


def test_a_planted_step_is_found_with_its_revision(
    heapwright: Heapwright, document: Comparison, tmp_path: Path
) -> None:
    folder = tmp_path / "steps"
    folder.mkdir()
    for number in range(40):
        wobble = 1 + 0.002 * (number * 7 % 5 - 2)
        write(folder, document, number, wobble * (1.05 if number >= 25 else 1.0))
    done = heapwright("history", "steps", "--html", "page.html")
    assert done.status == 10, done.err
    first = done.out.splitlines()[0]
    assert first.startswith("time of lea: "), done.out
    assert "more relative to glibc from r25 " in first
    assert "before it was r24 " in first
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "r25" in page
    assert "time of lea (ratio to glibc)" in page


def test_a_history_without_a_change(
    heapwright: Heapwright, document: Comparison, tmp_path: Path
) -> None:
    folder = tmp_path / "same"
    folder.mkdir()
    for number in range(30):
        write(folder, document, number, 1 + 0.002 * (number * 7 % 5 - 2))
    (folder / "torn.json").write_text('{"schema_version": 2', encoding="utf-8")
    done = heapwright("history", "same")
    assert done.status == 0, done.err
    assert done.out.startswith("No change in 30 documents")
    assert "torn.json is left out" in done.out
    refused = heapwright("history", "same", "--response", "latency")
    assert refused.status == 2
    assert "the documents have no latency" in refused.err


def test_documents_of_another_command_are_another_series(
    heapwright: Heapwright, document: Comparison, tmp_path: Path
) -> None:
    folder = tmp_path / "two"
    folder.mkdir()
    for number in range(20):
        other = document.model_copy(update={"command": ("other",)}) if number % 2 else document
        write(folder, other, number, 5.0 if number % 2 else 1.0)
    done = heapwright("history", "two")
    assert done.status == 0, done.out
    assert "2 commands on 1 kinds of processors" in done.out


@pytest.mark.parametrize("content", [None, "", "{}"])
def test_a_folder_without_documents_is_refused(
    heapwright: Heapwright, tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "none").mkdir()
        if content:
            (tmp_path / "none" / "a.json").write_text(content, encoding="utf-8")
    done = heapwright("history", "none")
    assert done.status == 2
    assert "compare --store FOLDER" in done.err


def test_a_stored_document_never_replaces_another(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = heapwright("compare", "-n", "1", "--store", "file", "-a", "glibc,lea", "--", worker)
    assert done.status == 2
    assert "nothing was run" in done.err
