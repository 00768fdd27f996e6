# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page of all published findings is what its script makes of studies and results."""

import re
from types import ModuleType

import pytest

from heapwright.artefacts.study.file import read_study
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
        r"^\| cannot be told[^|]*; by instructions: (holds|does not hold) \|", made, re.M
    )
    total = re.search(r"^\| \*\*all\*\* \|(.*)\|$", made, re.M)
    assert total is not None
    column = script.COLUMNS.index(script.BY_COUNTS)
    assert total[1].split("|")[column].strip() == f"**{len(decided)}**"
    for line in re.findall(r"^\| .*; by instructions: .*$", made, re.M):
        assert re.search(r"(\. |\| )By instructions: ", line)
