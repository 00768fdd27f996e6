# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The published studies as files: they are well at every scale, and their tables belong to them."""

from math import prod
from pathlib import Path

import pytest

from heapwright.artefacts.study.file import read_study
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study.published import TERM, Line, read_lines

FOLDER = Path(__file__).parents[3] / "catalogue" / "studies"
NAMES = (
    "berger-2002-general",
    "berger-2002-hoard",
    "berger-2002-hoard-memory",
    "berger-2002-reaps",
    "costa-2014",
    "costa-2014-characterisation",
    "custom-or-general",
    "fischer-2018-false-sharing",
    "fischer-2018-false-sharing-lines",
    "fischer-2018-larson",
    "fischer-2018-loop",
    "fischer-2018-mysql",
    "fischer-2018-traces",
    "fischer-2018-traces-memory",
    "kernel",
    "kernel-processors",
    "matias-2011-mysql",
)
OTHERS = ("httpd-pools", "reference", "granary", "applications-today", "kernel-models")
"""Studies of which nothing is published that they could answer, and the one with every key."""
MINUTES = {"kernel": 20}
"""Budgets of small scales that are not ten minutes."""
MOST_SMALL_RUNS = 5500
"""Of a small scale, on a machine with two processors: what ten minutes have room for."""


def study(name: str, scale: str | None = None) -> Study:
    return read_study(FOLDER / f"{name}.toml", scale).study


def tables(name: str) -> list[tuple[str, tuple[Line, ...]]]:
    return [
        (source.file, read_lines(FOLDER / source.file, source.kind))
        for source in study(name).published
    ]


def test_these_are_all_that_there_are() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == {*NAMES, *OTHERS}
    named = {source.file for name in NAMES for source in study(name).published}
    assert named == {f"published/{path.name}" for path in (FOLDER / "published").iterdir()}


@pytest.mark.parametrize("name", NAMES)
def test_a_study_says_where_it_is_from_and_what_was_found(name: str) -> None:
    whole = study(name)
    assert whole.name == name
    assert whole.source
    assert whole.description
    assert len(whole.findings) >= 5
    ids = [finding.id for finding in whole.findings]
    assert len(set(ids)) == len(ids)
    assert all(finding.source for finding in whole.findings)


@pytest.mark.parametrize("name", NAMES)
def test_the_small_scale_is_small_and_answers_most_findings(name: str) -> None:
    small = study(name, "small")
    assert small.design.budget_min == MINUTES.get(name, 10)
    treatments = prod(len(factor.levels) for factor in small.factors.values())
    assert treatments * small.design.blocks <= MOST_SMALL_RUNS
    assert small.design.blocks - small.design.discard >= 3

    def run(factor: str, level: str) -> bool:
        return level in small.factors[factor].names

    told = [
        finding
        for finding in small.findings
        if all(run(*pair) for rule in finding.test for pair in rule.levels())
    ]
    assert len(told) >= len(small.findings) / 2


@pytest.mark.parametrize("name", NAMES)
def test_published_lines_name_responses_factors_and_levels_of_the_study(name: str) -> None:
    whole = study(name)
    # Figures of traces that cannot be made again, which users may have.
    elsewhere = {"qemu-virtio", "proprietary-1", "proprietary-2"}
    for file, lines in tables(name):
        assert lines, file
        for line in lines:
            assert line.response in whole.responses, (file, line)
            for factor, level in line.keys.items():
                if factor == TERM:
                    assert level in whole.factors, (file, line)
                else:
                    assert level in {*whole.factors[factor].names, *elsewhere}, (file, line)


def test_the_factorial_study_is_as_large_as_it_was() -> None:
    whole = study("costa-2014")
    sizes = {name: len(factor.levels) for name, factor in whole.factors.items()}
    assert prod(sizes.values()) == 648 * 6
    assert sizes["allocator"] == 6
    assert whole.design.blocks == 30
    assert whole.design.discard == 2
    assert 648 * 6 * 30 == 116_640


def test_the_printed_figures_are_as_they_were_printed() -> None:
    found = dict(tables("costa-2014"))
    assert {file: len(lines) for file, lines in found.items()} == {
        "published/costa-2014-means.csv": 228,
        "published/costa-2014-anova.csv": 60,
        "published/costa-2014-rankings.csv": 18,
    }
    first = found["published/costa-2014-rankings.csv"][1]
    assert (first.keys, first.values) == ({"allocator": "tcmalloc"}, {"percent": 33.06})
    means = found["published/costa-2014-means.csv"]
    wanted = {"allocator": "ptmalloc2", "allocations": "500000", "size": "16..64"}
    (line,) = [each for each in means if each.response == "time" and each.keys == wanted]
    assert line.values == {"mean": 132.409, "groups": "2"}


def test_programs_that_a_study_runs_lie_beside_it() -> None:
    levels = study("berger-2002-general").factors["program"].items
    for level in levels:
        assert (FOLDER / "programs" / str(level.keys["script"])).is_file()
