# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/findings/README.md: every published finding, with its answer here.

    python scripts/findings_page.py [--check]

Run it with the environment that has the tool, after a change of a study's findings or of a result.
The findings are those of `catalogue/studies/`. They are answered from the runs in `docs/results/`.
Runs at the scale `counted` give a second answer to findings about time. Where an older page has no
runs beside it, the answer is read from its table. `--check` writes nothing. Its exit status is 1 if
the page is not up to date.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.analysis.findings.answer import answer
from heapwright.artefacts.study.file import read_study
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study_analysis.answers import Answer, FindingResult
from heapwright.artefacts.study_results.folder import compressed
from heapwright.artefacts.study_results.reader import open_results
from heapwright.artefacts.study_results.runs import DESIGN_FILE, RUNS_FILE
from heapwright.base.blocks_needed import blocks_text

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path("docs/results/findings/README.md")
NOT_RUN = "not run here yet"
COUNTED = "counted"
"""The scale at which a study counts instructions in place of time."""
BY_COUNTS = "of these, counts decide"
ANSWERS = (*(each.value for each in Answer), NOT_RUN)
COLUMNS = (*ANSWERS[:3], BY_COUNTS, NOT_RUN)
HEADINGS = ("here", "finding", "published", "ours")
OLD_ROW = re.compile(r"^\| (holds|does not hold|cannot be told) \| (.*) \| (.*) \| (.*) \|$", re.M)
TITLE = re.compile(r"# (\S+)\n")
HEAD = """# The five studies, answered

Every published finding of the study files, with its answer here. Read this page to see what of the
literature holds today. [Findings](../../reference/findings.md) says how an answer comes about.

```sh
python scripts/findings_page.py   # writes this page
```

The answers are from the runs in `docs/results/`, on two processors that also did other work. *Does
not hold* about scaling means *not on such a machine*. *By instructions* is a second answer to a
finding about time, from exact counts. Counts do not contain the cost of caches and pages.
"""


@dataclass(frozen=True, slots=True)
class Line:
    """A finding with its answer."""

    answer: str
    words: str
    published: str
    source: str
    ours: str
    by_counts: Answer | None = None
    """The answer of counted runs, if they decide."""


@dataclass(frozen=True, slots=True)
class Section:
    """A study with its findings, and the folder of its results if it was run."""

    study: Study
    lines: tuple[Line, ...]
    folder: Path | None
    has_runs: bool
    counted: Path | None = None
    """The folder of its runs at the scale `counted`."""


def page(root: Path = ROOT) -> str:
    """The whole page."""
    sections = list(_sections(root))
    parts = [HEAD.rstrip(), _summary(sections), *(_section(each) for each in sections)]
    return "\n\n".join(parts) + "\n"


def _sections(root: Path) -> Iterator[Section]:
    pages = _pages(root / "docs" / "results")
    for path in sorted((root / "catalogue" / "studies").glob("*.toml")):
        study = read_study(path).study
        if not study.findings or path.stem == "reference":
            continue
        folder = pages.get(study.name)
        has_runs = folder is not None and (folder / DESIGN_FILE).exists()
        if folder is None:
            lines = [_line_without(study, index) for index in range(len(study.findings))]
        elif has_runs:
            lines = list(_from_runs(path, folder))
        else:
            lines = list(_from_table(study, (folder / "README.md").read_text("utf-8")))
        counted = root / "docs" / "results" / f"{study.name}-{COUNTED}"
        if counted.exists():
            lines = list(_with_counts(lines, study, path, counted))
        yield Section(study, tuple(lines), folder, has_runs, counted if counted.exists() else None)


def _pages(results: Path) -> dict[str, Path]:
    """The folder of each study that has a page with answers, from runs that measured time."""
    found = {}
    for file in sorted(results.glob("*/README.md")):
        text = file.read_text(encoding="utf-8")
        title = TITLE.match(text)
        counted = file.parent.name.endswith(f"-{COUNTED}")
        if title is not None and OLD_ROW.search(text) and not counted:
            found[title[1]] = file.parent
    return found


def _answered(path: Path, folder: Path) -> tuple[FindingResult, ...]:
    results = open_results(folder)
    study = read_study(path, results.design.scale or None).study
    return answer(study, results.frame(), results.design)


def _from_runs(path: Path, folder: Path) -> Iterator[Line]:
    for found in _answered(path, folder):
        yield Line(
            _said(found), found.words, found.published, found.source, found.why or found.ours
        )


def _with_counts(lines: Iterable[Line], study: Study, path: Path, counted: Path) -> Iterator[Line]:
    """The lines; those about a counted response have the answer of the counted runs as well."""
    at_scale = read_study(path, COUNTED).study
    replaced = {
        name
        for name, response in at_scale.responses.items()
        if response.origin != study.responses[name].origin
    }
    results = _answered(path, counted)
    for line, finding, found in zip(lines, study.findings, results, strict=True):
        about = {rule.response for rule in finding.test}
        if found.verdict is Answer.UNKNOWN or not about <= replaced:
            yield line
        else:
            counts = f"By instructions: {found.why or found.ours}"
            ours = f"{line.ours}. {counts}" if line.ours else counts
            yield replace(line, ours=ours, by_counts=found.verdict)


def _said(found: FindingResult) -> str:
    if found.needed is None:
        return found.verdict.value
    return f"{found.verdict.value}: {blocks_text(found.needed)}"


def _from_table(study: Study, text: str) -> Iterator[Line]:
    """The answers of a page without runs, by the words of the findings."""
    rows = {row[1].replace("\\|", "|"): (row[0], row[3]) for row in OLD_ROW.findall(text)}
    for index, finding in enumerate(study.findings):
        if finding.words in rows:
            said, ours = rows[finding.words]
            yield Line(said, finding.words, finding.published, finding.source, ours)
        else:
            yield _line_without(study, index)


def _line_without(study: Study, index: int) -> Line:
    finding = study.findings[index]
    return Line(NOT_RUN, finding.words, finding.published, finding.source, "")


def _summary(sections: Sequence[Section]) -> str:
    rows = []
    for each in sections:
        counts = _counts(each.lines)
        link = f"[{each.study.name}](#{each.study.name})"
        rows.append((link, *(str(counts[name]) for name in COLUMNS)))
    total = _counts([line for each in sections for line in each.lines])
    rows.append(("**all**", *(f"**{total[name]}**" for name in COLUMNS)))
    return _table(("study", *COLUMNS), rows)


def _counts(lines: Sequence[Line]) -> Counter[str]:
    counts = Counter(
        next(name for name in ANSWERS if each.answer.startswith(name)) for each in lines
    )
    undecided = [each for each in lines if each.answer.startswith(Answer.UNKNOWN.value)]
    counts[BY_COUNTS] = sum(each.by_counts is not None for each in undecided)
    return counts


def _section(section: Section) -> str:
    study = section.study
    rows = [
        (
            each.answer
            if each.by_counts is None
            else f"{each.answer}; by instructions: {each.by_counts.value}",
            each.words,
            "; ".join(filter(None, (each.published, each.source))) or "-",
            each.ours or "-",
        )
        for each in section.lines
    ]
    facts = [study.title, study.source, _place(section)]
    about = " ".join(fact if fact[-1] in ".?" else f"{fact}." for fact in facts if fact)
    return f"## {study.name}\n\n{about}\n\n{_table(HEADINGS, rows)}"


def _place(section: Section) -> str:
    if section.folder is None:
        return ""
    name = section.folder.name
    link = f"[Page](../{name}/README.md)"
    if section.has_runs:
        place = f"{link} and [runs](../{name}/{compressed(Path(RUNS_FILE)).name})"
    else:
        place = f"{link} of earlier runs, which were not kept"
    if section.counted is None:
        return place
    return f"{place}. [Counted runs](../{section.counted.name}/README.md)"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    made, file = page(), ROOT / PAGE
    if "--check" in arguments:
        return int(not file.exists() or file.read_text(encoding="utf-8") != made)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
