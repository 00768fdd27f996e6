# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/findings/README.md: every published finding, with its answer here.

    python scripts/findings_page.py [--check]

Run it with the environment that has the tool, after a change of a study's findings or of a result.
The findings are those of `catalogue/studies/`. They are answered from the runs in `docs/results/`.
The folder `docs/results/STUDY-SCALE` has further runs, at another scale of the study. Counts there
give a second answer to a finding about time. More runs of the same response answer a finding that
the first runs leave open, if the scale states that finding itself. Where an older page has no runs
beside it, the answer is read from its table. `--check` writes nothing. Its exit status is 1 if the
page is not up to date.
"""

import json
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
SIMULATED = ("callgrind", "cachegrind")
"""Origins of responses that are instructions. Others have a title that begins with this word."""
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
not hold* about scaling means *not on such a machine*. *By instructions* and *by counts* are second
answers to a finding about time, from exact counts. Instructions do not contain the cost of caches,
pages and waiting. The other counts are lines that threads share, and locks and
words that change hands.
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
    counts: str = ""
    """What these runs counted."""


@dataclass(frozen=True, slots=True)
class Section:
    """A study with its findings, and the folder of its results if it was run."""

    study: Study
    lines: tuple[Line, ...]
    folder: Path | None
    has_runs: bool
    further: tuple[Path, ...] = ()
    """The folders of its runs at other scales."""


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
        further = tuple(_further(root, study))
        for more in further:
            lines = list(with_further(lines, study, path, more))
        yield Section(study, tuple(lines), folder, has_runs, further)


def _further(root: Path, study: Study) -> Iterator[Path]:
    """The folders of runs at a scale that has a page of its own."""
    for scale in study.scale:
        folder = root / "docs" / "results" / f"{study.name}-{scale}"
        if _scale_of(folder) == scale:
            yield folder


def _scale_of(folder: Path) -> str:
    """The scale of the runs in a folder; empty if there are none."""
    design = folder / DESIGN_FILE
    if not design.exists():
        return ""
    return str(json.loads(design.read_text(encoding="utf-8"))["scale"])


def _pages(results: Path) -> dict[str, Path]:
    """The folder of each study that has a page with answers, without those of further runs."""
    found = {}
    for file in sorted(results.glob("*/README.md")):
        text = file.read_text(encoding="utf-8")
        title = TITLE.match(text)
        if title is None or not OLD_ROW.search(text):
            continue
        if file.parent.name != f"{title[1]}-{_scale_of(file.parent)}":
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


def with_further(lines: Iterable[Line], study: Study, path: Path, folder: Path) -> Iterator[Line]:
    """The lines, with the answers of further runs."""
    scale = _scale_of(folder)
    at_scale = read_study(path, scale).study
    states_them = "finding" in study.scale[scale]
    found = {each.id: each for each in _answered(path, folder)}
    stated = {each.id: each for each in at_scale.findings}
    for line, finding in zip(lines, study.findings, strict=True):
        answered = found.get(finding.id)
        if answered is None:
            yield line
            continue
        about = {rule.response for rule in stated[finding.id].test}
        counted = {name for name in about if _is_counted(study, at_scale, name)}
        if about == counted:
            yield _second(line, answered, at_scale, about)
        elif states_them and not counted and line.answer.startswith(Answer.UNKNOWN.value):
            said = filter(None, (answered.why or answered.ours, stated[finding.id].today))
            ours = f"{'. '.join(said)} ([more runs](../{folder.name}/README.md))"
            yield replace(line, answer=_said(answered), ours=ours)
        else:
            yield line


def _is_counted(study: Study, at_scale: Study, name: str) -> bool:
    """Whether the scale has this response in place of the measured one, or in addition."""
    measured = study.responses.get(name)
    return measured is None or measured.origin != at_scale.responses[name].origin


def _second(line: Line, found: FindingResult, at_scale: Study, about: set[str]) -> Line:
    """The line with a second answer, if the counts decide and no others did."""
    if found.verdict is Answer.UNKNOWN or line.by_counts is not None:
        return line
    what = "instructions" if all(_is_simulated(at_scale, each) for each in about) else "counts"
    counts = f"By {what}: {found.why or found.ours}"
    ours = f"{line.ours}. {counts}" if line.ours else counts
    return replace(line, ours=ours, by_counts=found.verdict, counts=what)


def _is_simulated(at_scale: Study, name: str) -> bool:
    response = at_scale.responses[name]
    return response.origin in SIMULATED or response.title.startswith("instructions")


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
            else f"{each.answer}; by {each.counts}: {each.by_counts.value}",
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
        return _further_place(section, "")
    name = section.folder.name
    link = f"[Page](../{name}/README.md)"
    if section.has_runs:
        place = f"{link} and [runs](../{name}/{compressed(Path(RUNS_FILE)).name})"
    else:
        place = f"{link} of earlier runs, which were not kept"
    return _further_place(section, f"{place}. ")


def _further_place(section: Section, place: str) -> str:
    more = [f"[{each.name}](../{each.name}/README.md)" for each in section.further]
    return f"{place}Further runs: {', '.join(more)}" if more else place.removesuffix(". ")


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
