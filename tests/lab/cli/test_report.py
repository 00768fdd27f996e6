# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright report` from its options to its files."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from heapwright.artefacts.run.provenance import Environment, Kind
from heapwright.artefacts.taxonomy.document import (
    Criteria,
    Estimate,
    Plan,
    Row,
    Sharing,
    Speed,
    Taxonomy,
)
from heapwright.base.errors import HeapwrightError
from heapwright.base.native import library, program
from support.documents import made

from .studies import write_study
from .tools import Heapwright


@pytest.fixture
def results(heapwright: Heapwright, native: Path, tmp_path: Path) -> Path:
    """Of a study of two allocators and two sizes, four blocks."""
    del native
    done = heapwright("study", "run", write_study(tmp_path, blocks=5), "-o", "results", "-q")
    assert done.status == 0, done.err
    return tmp_path / "results"


def test_a_study_as_markdown_beside_its_compressed_runs(
    heapwright: Heapwright, results: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    page = kept / "README.md"
    page.write_text("# Old\n\n## Conclusions\n\nBoth are good.\n\n## Rest\n\nOld.\n")
    done = heapwright("report", results, "-o", "kept/README.md", "--runs", "kept")
    assert done.status == 0, done.err
    assert "runs: kept" in done.out
    text = page.read_text("utf-8")
    assert text.startswith("# small\n\na small study.\n")
    assert "\n\n## Conclusions\n\nBoth are good.\n\n## " in text
    assert "Old" not in text

    again = heapwright("report", "kept", "-q", "-o", "kept/README.md")
    assert again.status == 0, again.err
    assert page.read_text("utf-8") == text
    analysed = heapwright("analyse", "kept", "-q")
    assert analysed.out == heapwright("analyse", results, "-q").out
    refused = heapwright("study", "resume", "kept")
    assert refused.status == 2
    assert "are compressed" in refused.err


def test_a_study_from_its_runs_to_its_page(
    heapwright: Heapwright, results: Path, tmp_path: Path
) -> None:
    done = heapwright("report", results, "-o", "page.html", "--figures", "figures")
    assert done.status == 0, done.err
    assert "page: page.html" in done.out
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<h1>a small study</h1>" in page
    assert "None: all 20 runs ended well." in page
    assert "Every run that ended well is on this page." in page

    made = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {f"time-ranking.{kind}" for kind in ("svg", "png", "csv")} <= made
    assert len({name.rsplit(".")[0] for name in made}) * 3 == len(made)
    with (tmp_path / "figures" / "time-ranking.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["allocator"] for row in rows) == ["glibc", "kingsley"]
    assert rows[0]["over the best"] == "best"
    assert all(float(row["mean"]) > 0 for row in rows)
    with (tmp_path / "figures" / "value-by-factor-size.csv").open(encoding="utf-8") as file:
        values = {row["size"]: float(row["mean"]) for row in csv.DictReader(file)}
    assert values == {"1": 1.5, "2": 2.5}, "what the program printed"


def test_the_tables_of_a_study_for_latex(
    heapwright: Heapwright, results: Path, tmp_path: Path
) -> None:
    done = heapwright("report", results, "--latex", "tables.tex")
    assert done.status == 0, done.err
    assert "tables: tables.tex" in done.out
    text = (tmp_path / "tables.tex").read_text("utf-8")
    assert r"\label{tab:rankings-1}" in text
    assert text.count(r"\begin{table}") == text.count(r"\bottomrule") > 5
    alone = heapwright("report", results, "--latex", "-", "-q")
    assert alone.out == text
    same = heapwright("report", results, "-o", "a", "--latex", "a")
    assert same.status == 2
    assert "--output and --latex cannot write to the same place" in same.err


def test_a_page_on_standard_output(heapwright: Heapwright, results: Path) -> None:
    done = heapwright("report", results, "-o", "-", "-q")
    assert done.status == 0
    assert done.out.startswith("<!DOCTYPE html>")
    assert done.out.endswith("</html>\n")
    assert "analys" not in done.err


def test_two_folders_of_a_study_are_one(
    heapwright: Heapwright, results: Path, tmp_path: Path
) -> None:
    done = heapwright("study", "run", tmp_path / "small.toml", "-o", "again", "-q")
    assert done.status == 0, done.err
    done = heapwright("report", results, "again", "-o", "page.html")
    assert done.status == 0, done.err
    assert "None: all 40 runs ended well." in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.programs
def test_a_pdf(heapwright: Heapwright, results: Path, tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("no browser (package chromium)")
    done = heapwright("report", results, "--pdf", "page.pdf")
    assert done.status == 0, done.err
    assert "PDF: page.pdf" in done.out
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")


def test_a_profile(heapwright: Heapwright, worker: Path, tmp_path: Path) -> None:
    try:
        library("recorder")
        program("record")
        program("profile")
    except HeapwrightError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    done = heapwright("profile", "--json", "p.json", "-o", "t", "-q", "--", worker, "300")
    assert done.status == 0, done.err
    for source in ("p.json", "t"):
        done = heapwright("report", source, "-o", f"{source}.html", "--figures", f"of-{source}")
        assert done.status == 0, done.err
        assert (
            "<h1>What does this program ask of malloc?</h1>" in Path(f"{source}.html").read_text()
        )
        assert (tmp_path / f"of-{source}" / "live-memory.csv").read_text("utf-8").count("\n") > 10


def survey() -> Taxonomy:
    """Of one allocator, whose speed alone is known."""
    environment = made(Environment, cpus=2, date="2026-01-02T03:04:05")
    plan = Plan(
        seed=7,
        blocks=3,
        threads=(1, 2),
        counted_threads=(1,),
        small=True,
        planned=9,
        done=9,
        stopped_because="all is done",
    )
    criteria = Criteria(
        fast=4, efficiency=0.65, traffic=500, sharing=1, unbounded=0.02, linear=0.25
    )
    row = Row(
        allocator="glibc",
        kind=Kind.SYSTEM,
        fast=True,
        scalable=None,
        false_sharing=Sharing(),
        blowup=None,
        speed=Speed(time=Estimate(value=2, low=1.9, high=2.1, runs=3)),
    )
    return Taxonomy(
        heapwright_version="0",
        environment=environment,
        plan=plan,
        criteria=criteria,
        rows=(row,),
        runs=(),
    )


def test_a_taxonomy(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(survey().to_json(), encoding="utf-8")
    done = heapwright("report", "t.json", "-o", "page.html", "--figures", "figures")
    assert done.status == 0, done.err
    assert "<h1>What kind of allocator?</h1>" in (tmp_path / "page.html").read_text("utf-8")
    assert "glibc,2" in (tmp_path / "figures" / "speed.csv").read_text("utf-8")


def test_fields_of_studies_are_refused_for_a_taxonomy(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    (tmp_path / "t.json").write_text(survey().to_json(), encoding="utf-8")
    assert "only a study has a page in Markdown" in refused(heapwright, "t.json", "-o", "t.md")
    options = ("-o", "t.html", "--runs", "kept")
    assert "--runs needs the results of a study" in refused(heapwright, "t.json", *options)
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def refused(heapwright: Heapwright, *arguments: str | Path) -> str:
    done = heapwright("report", *arguments)
    assert done.status == 2
    assert done.out == ""
    return done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("folder",), "no destination is named"),
        (("missing", "-o", "p.html"), "missing does not exist"),
        (("folder", "-o", "p.html"), "folder holds no results of a study"),
        (("folder", "-o", "no/p.html"), "--output no/p.html cannot be written"),
        (("folder", "--pdf", "-"), "not to standard output"),
        (("folder", "-o", "p", "--pdf", "p"), "cannot write to the same place"),
        (("folder", "--process", "1", "-o", "p"), "--process needs a trace"),
        (("folder", "--figures", "text"), "--figures text is no folder"),
        (("text", "text", "-o", "p.html"), "several sources are folders of one study"),
        (("text", "-o", "p.html"), "text is neither a trace nor a document of Heapwright"),
        (("compared.json", "-o", "p.html"), "compared.json is the document of a comparison"),
        (("analysed.json", "-o", "p.html"), "name the folder of its results"),
        (("taxonomy.json", "-o", "p.html"), "taxonomy.json is a taxonomy of version 0"),
        (("broken.json", "-o", "p.html"), "broken.json is not a profile"),
    ],
)
def test_refused_requests(
    heapwright: Heapwright, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("text", encoding="utf-8")
    documents = {
        "compared": {"effects": [], "verdict": {}, "runs": []},
        "analysed": {"factors": [], "verdict": {}, "responses": []},
        "taxonomy": {"schema_version": 0, "criteria": {}, "rows": [], "plan": {}},
    }
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "broken.json").write_text('{"schema', encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert told in refused(heapwright, *arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_without_a_browser_a_pdf_is_refused_at_once(
    heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "folder").mkdir()
    told = refused(heapwright, "folder", "--pdf", "page.pdf")
    assert "a PDF is printed by Chromium, and there is none here" in told
    assert "print it" in told
