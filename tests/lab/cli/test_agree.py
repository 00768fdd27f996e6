# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright agree`: rankings of a program, of its replay and of a load that imitates it."""

import csv
import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from heapwright.artefacts.agreement.document import RankingAgreement
from heapwright.artefacts.program.library import program_names
from heapwright.base.errors import ExitCode
from heapwright.report.agreement import conclusions
from support.scripts import load_script

from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")

PROGRAM = """
format = 1
name = "mine"
title = "mine"
command = ["perl", "-e", "{script}"]
[parameters]
script = 'for (1 .. 20) { my @a; push @a, "x" x $_ for 1 .. 300; } print "done";'
[[check]]
what = "it was done"
pattern = "^done$"
"""


def page_of(found: RankingAgreement, every: Sequence[str]) -> str:
    """What scripts/agreement_page.py makes of a document."""
    text: str = load_script("scripts/agreement_page.py").page(found, every)
    return text


def test_the_page_of_results_is_that_of_its_document() -> None:
    kept = Path(__file__).parents[3] / "docs/results/agreement"
    found = RankingAgreement.from_json(gzip.decompress((kept / "agreement.json.gz").read_bytes()))
    assert page_of(found, program_names()) == (kept / "README.md").read_text()


@pytest.fixture
def program(tmp_path: Path, needs_programs: Callable[..., None]) -> Path:
    needs_programs("record", "profile", "synth", "replay")
    path = tmp_path / "mine.toml"
    path.write_text(PROGRAM)
    return path


def test_two_allocators_are_ranked_three_ways(
    heapwright: Heapwright, program: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(
        PROGRAM.replace('"mine"', '"wrong"').replace("[[check]]", "[other]\n[[check]]")
    )
    around = ("--gaps", "recorded", "--visits", "1", "--whole")
    asked = ("agree", program, wrong, "-a", "glibc,hoard", "-n", "2", "--keep", "K", *around)
    done = heapwright(*asked, "--seed", "3", *("--json", "J", "--csv", "C", "--html", "H"))
    assert done.status == ExitCode.OK, done.err
    found = RankingAgreement.from_json((tmp_path / "J").read_text())
    assert RankingAgreement.from_json(found.to_json()) == found
    one, refused = found.programs
    assert one.events > 6_000
    assert found.surroundings.whole
    assert (found.surroundings.gaps, found.surroundings.visits) == ("recorded", 1)
    assert {(each.what, each.load) for each in one.agreements} == {
        (what, load) for what in ("time", "memory") for load in ("program", "replay", "synthetic")
    }
    assert all(each.runs == 2 and each.seconds for each in one.measured)
    assert len(one.measured) == 2 * 3
    assert "other" in refused.why
    assert not refused.agreements
    assert {each.programs for each in found.overall} == {1}
    rows = list(csv.DictReader((tmp_path / "C").read_text().splitlines()))
    assert len(rows) == 7
    assert all(-1 <= float(row["tau"]) <= 1 for row in rows if row["tau"])
    page = (tmp_path / "H").read_text()
    assert "Does a load rank allocators as its program does?" in page
    assert "a synthetic load" in done.out

    text = page_of(found, ["mine", "another"])
    assert f"| {program} | " in text
    assert f"- {wrong}: " in text
    assert " --gaps recorded --visits 1 --whole --json" in text
    assert "- not begun, for want of time: mine, another\n" in text
    assert all(f"- {line}" in text for line in conclusions(found))

    again = heapwright(*asked, "--json", "again")
    assert again.status == ExitCode.OK, again.err
    assert "as it was kept" in again.err
    assert "blocks" not in again.err  # nothing was measured
    assert RankingAgreement.from_json((tmp_path / "again").read_text()) == found
    other = heapwright(*asked, "-n", "3")
    assert other.status == ExitCode.BAD_INPUT
    assert "blocks 2 there, 3 now" in other.err
    other = heapwright(*asked, "--visits", "2")
    assert "visits 1 there, 2 now" in other.err


def test_a_program_with_an_allocator_inside_is_a_row_with_the_reason(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(PROGRAM.replace('"mine"\ncommand', '"mine"\nown_allocator = "Inside"\ncommand'))
    done = heapwright("agree", own, "-a", "glibc,hoard", "-n", "2")
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "brings an allocator of its own, Inside" in done.err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), ExitCode.BAD_INPUT, "name programs, or give --all"),
        (("x", "--all"), ExitCode.BAD_INPUT, "leave out the names, or --all"),
        (
            ("reference", "-a", "glibc"),
            ExitCode.BAD_INPUT,
            "only glibc is left: there is nothing to compare it with",
        ),
        (("nosuch", "-a", "glibc,hoard"), ExitCode.BAD_INPUT, "there is no program"),
        (("perl", "--visits", "2"), ExitCode.BAD_INPUT, "add --gaps recorded"),
        (("perl", "--visits", "nan"), ExitCode.BAD_INPUT, "neither 0 nor from 0.001"),
    ],
)
def test_a_figure_that_cannot_be_queried_is_reported(
    heapwright: Heapwright, words: tuple[str, ...], status: ExitCode, said: str
) -> None:
    done = heapwright("agree", *words)
    assert done.status == status
    assert said in done.err


def test_rankings_of_two_are_no_evidence(heapwright: Heapwright, program: Path) -> None:
    done = heapwright("agree", program, "-a", "glibc,hoard", "-n", "2")
    said = " ".join(done.out.split())
    assert "Rankings of 2 allocators are no evidence" in said
    assert "Name at least 4 with -a." in said


def test_an_unknown_program_is_refused_before_the_first_run(heapwright: Heapwright) -> None:
    done = heapwright("agree", "redi", "perl", "-a", "glibc,lea")
    assert done.status == ExitCode.BAD_INPUT
    assert "there is no program 'redi'" in done.err
    assert "did you mean redis?" in done.err
