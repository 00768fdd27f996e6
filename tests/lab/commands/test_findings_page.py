# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page of all published findings is what its script makes of studies and results."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.study.file import read_study
from heapwright.artefacts.study_analysis.answers import Answer, FindingResult
from support.scripts import ROOT, load_script

STUDIES = list((ROOT / "catalogue" / "studies").glob("*.toml"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("scripts/findings_page.py")


@pytest.fixture(scope="module")
def made(script: ModuleType) -> str:
    page: str = script.page()
    return page


def test_it_is_up_to_date(script: ModuleType, made: str) -> None:
    assert (ROOT / script.PAGE).read_text(encoding="utf-8") == made, "run scripts/findings_page.py"


def test_it_has_every_finding_once(made: str) -> None:
    findings = [
        finding
        for path in STUDIES
        if path.stem != "reference"
        for finding in read_study(path).study.findings
    ]
    rows = [line for line in made.splitlines() if re.match(r"\| (holds|does|cannot|not run)", line)]
    assert len(rows) == len(findings)
    for finding in findings:
        words = finding.words.replace("|", "\\|")
        assert any(f" | {words} | " in row for row in rows), finding.id


def test_its_links_lead_to_pages_and_runs(script: ModuleType, made: str) -> None:
    links = re.findall(r"\]\((\.\./[^)#]+)\)", made)
    assert any(link.endswith("runs.jsonl.gz") for link in links)
    for link in links:
        assert ((ROOT / script.PAGE).parent / link).exists(), link


def test_counts_answer_findings_about_time_beside_it(script: ModuleType, made: str) -> None:
    decided = re.findall(
        r"^\| cannot be told[^|]*; by (?:instructions|counts): (?:holds|does not hold) \|",
        made,
        re.M,
    )
    total = re.search(r"^\| \*\*all\*\* \|(.*)\|$", made, re.M)
    assert total is not None
    column = script.COLUMNS.index(script.BY_COUNTS)
    assert total[1].split("|")[column].strip() == f"**{len(decided)}**"
    for line, what in re.findall(r"^(\| .*; by (instructions|counts): .*)$", made, re.M):
        assert re.search(rf"(\. |\| )By {what}: ", line)


Further = Callable[[str, str, Answer], dict[str, tuple[str, Answer | None, str]]]


@pytest.fixture
def further(script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Further:
    """What becomes of the answer `first` to the findings of `STUDY SCALE`, if the runs at this
    scale answer `verdict`."""

    def found(named: str, first: str, verdict: Answer) -> dict[str, tuple[str, Answer | None, str]]:
        study, scale = named.split()
        path = ROOT / "catalogue" / "studies" / f"{study}.toml"
        whole = read_study(path).study
        (tmp_path / "design.json").write_text(json.dumps({"scale": scale}), encoding="utf-8")
        results = [
            FindingResult(id=each.id, words=each.words, verdict=verdict, why="new figures")
            for each in read_study(path, scale).study.findings
        ]
        monkeypatch.setattr(script, "_answered", lambda *_: results)
        lines = [script.Line(first, each.words, "", "", "old figures") for each in whole.findings]
        made = script.with_further(lines, whole, path, tmp_path)
        return {
            finding.id: (line.answer, line.by_counts, line.ours)
            for finding, line in zip(whole.findings, made, strict=True)
        }

    return found


def test_more_runs_answer_what_the_first_leave_open(further: Further) -> None:
    named = "kernel-processors fragmentation"
    made = further(named, "cannot be told: about 9 blocks", Answer.FAILS)
    answer, by_counts, ours = made["fragmentation-slob"]
    assert (answer, by_counts) == ("does not hold", None)
    setting = "The machine of 64 MiB only, with more seeds."
    assert ours.startswith(f"new figures. {setting} ([more runs](../")
    assert made["fileio-time"] == ("cannot be told: about 9 blocks", None, "old figures")
    decided = further(named, "holds", Answer.FAILS)
    assert decided["fragmentation-slob"] == ("holds", None, "old figures")


def test_counts_of_other_responses_are_a_second_answer(further: Further) -> None:
    named = "fischer-2018-false-sharing counted"
    made = further(named, "cannot be told", Answer.HOLDS)
    assert made["linear-to-ten"] == (
        "cannot be told",
        Answer.HOLDS,
        "old figures. By counts: new figures",
    )
    server = further("httpd-pools counted", "cannot be told", Answer.HOLDS)
    assert [ours for *_, ours in server.values()] == ["old figures. By instructions: new figures"]
    open_again = further(named, "cannot be told", Answer.UNKNOWN)
    assert open_again["linear-to-ten"] == ("cannot be told", None, "old figures")
