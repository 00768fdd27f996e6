# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright drag` from its options to its files."""

from pathlib import Path

import pytest

from heapwright.artefacts.drag.document import Drag
from heapwright.drag import valgrind

from .tools import Heapwright


@pytest.fixture
def _valgrind() -> None:
    if reason := valgrind.missing():
        pytest.skip(reason)


@pytest.mark.usefixtures("_valgrind")
def test_the_drag_of_a_command_is_measured_and_printed(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    options = ("--json", "d.json", "--html", "d.html")
    done = heapwright("drag", *options, "--", worker, "20")
    assert done.status == 0, done.err
    assert "Total drag" in done.out
    assert "main" in done.out
    found = Drag.from_json((tmp_path / "d.json").read_bytes())
    assert found.provenance.command == (str(worker), "20")
    assert found.objects == 21
    # The table is held and needed throughout, a hundred bytes each are used at once only.
    table, each = 8 * 20, 100
    assert found.allocated_bytes == table + 20 * each
    later = 20 * each
    assert found.needed_area == table * (table + later) + 20 * each * each
    assert found.held_area == table * (table + later) + each * each * 20 * 21 // 2
    assert "<!DOCTYPE html>" in (tmp_path / "d.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("_valgrind")
def test_one_sentence_and_the_document_on_standard_output(
    heapwright: Heapwright, worker: Path
) -> None:
    done = heapwright("drag", "-q", "--json", "-", "--", worker, "3")
    assert done.status == 0
    assert Drag.from_json(done.out).objects == 4
    assert done.err.startswith("total drag ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ((), "there is no command"),
        (("--",), "there is no command"),
        (("--flags", "--", "true"), "--flags prints compiler flags"),
        (("--by", "magic", "--", "true"), "magic"),
        (("--calls", "1", "--", "true"), "greater than or equal to 2"),
        (("--json", "missing/d.json", "--", "true"), "cannot be written"),
    ],
)
def test_misuse_is_refused(words: tuple[str, ...], refusal: str, heapwright: Heapwright) -> None:
    done = heapwright("drag", *words)
    assert done.status == 2
    assert refusal in done.err


@pytest.mark.usefixtures("_valgrind")
def test_a_command_that_cannot_be_preloaded_is_refused(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    script = tmp_path / "no-program"
    script.write_text("just text")
    script.chmod(0o755)
    done = heapwright("drag", "--", "./missing")
    assert done.status == 2
    assert "missing" in done.err
