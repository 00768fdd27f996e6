# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/tailored-programs/README.md: allocators that were built for one program each.

    python scripts/tailored_programs_page.py [--check]

Run it with the environment that has the tool, after `benchmarks/tailored_programs.py`. It computes
nothing: every figure is in the documents beside the page. `--check` writes nothing. Its exit status
is 1 if the page is not up to date.
"""

import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, mode
from typing import Any

from heapwright.artefacts.program.library import preloadable_names
from heapwright.artefacts.tailoring.document import Beside, Judgement, Ratio, Tailoring
from heapwright.base.errors import ExitCode
from heapwright.base.quantities import size
from heapwright.tailor.judge import change

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/results/tailored-programs"
NAME = "README.md"
GOAL = 10
HEAD = """<!-- SPDX-FileCopyrightText: The Heapwright authors -->
<!-- SPDX-License-Identifier: Apache-2.0 -->

# Allocators tailored for programs

[`heapwright tailor`](../../reference/tailor.md) built an allocator for each program of the
[catalogue](../../reference/programs.md), at the small scale. It then judged the allocator on an
input that the search had not used. `scripts/tailored_programs_page.py` writes this page.

```sh
python benchmarks/tailored_programs.py {options}SEARCHES
python scripts/tailored_programs_page.py
```"""
READING = """Below zero, the tailored allocator needs less. The intervals are of 95 %. Time is wall
time. For a server it is that of the client, and memory is that of the server. *Better* is a gain of
3 % or more in one figure, with its interval below zero. The other figure then loses at most 1 %. A
*trade* has such a gain and a larger loss. [The answer](../../reference/tailor.md#the-answer) is the
tailored allocator if it is *better* than the fastest existing one and has a gain beside each other.
The minutes are those of the whole search, with its proof."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One search: its outcome of the campaign, and the document of a complete one."""

    outcome: Mapping[str, Any]
    document: Tailoring | None

    @property
    def name(self) -> str:
        return str(self.outcome["program"])

    @property
    def judged(self) -> Judgement | None:
        """On the unseen input."""
        return next(iter(self.document.judged), None) if self.document else None


def kept(folder: Path) -> tuple[Kept, ...]:
    """The searches of the folder, by the names of their programs."""
    found: list[Kept] = []
    campaign = folder / "campaign.json"
    if not campaign.exists():
        return ()
    for outcome in json.loads(campaign.read_text("utf-8")):
        file = folder / f"{outcome['program']}.json.gz"
        document = None
        if outcome["status"] == 0:
            document = Tailoring.model_validate_json(gzip.decompress(file.read_bytes()))
        found.append(Kept(outcome, document))
    return tuple(sorted(found, key=lambda each: each.name))


def page(found: Sequence[Kept], every: Sequence[str]) -> str:
    """The whole page; `every` has the names of all programs."""
    option = f"--budget {_budget(found):g} " if found else ""
    parts = [HEAD.format(options=option), "\n".join(_summary(found, every)), READING]
    judged = [(each, each.judged) for each in found if each.judged is not None]
    parts += [
        "## Beside the fastest existing allocator",
        "The fastest of glibc, granary, jemalloc, TCMalloc and mimalloc in the race.",
        _table(
            ("program", "fastest", "time", "peak memory", "verdict", "answer", "minutes"),
            [
                (
                    each.name,
                    *_beside(judgement.beside[0]),
                    _answer(each),
                    f"{each.outcome['seconds'] / 60:.1f}",
                )
                for each, judgement in judged
            ],
        ),
        "## Beside the leanest, and glibc",
        _table(
            ("program", "other", "time", "peak memory", "verdict"),
            [
                (each.name, *_beside(other))
                for each, judgement in judged
                for other in judgement.beside[1:]
            ],
        ),
        "## Inputs",
        "Each search used the small scale. On the unseen input these parameters are others.",
        _table(
            ("program", "unseen input", "allocations", "live at the peak", "proposal", "blocks"),
            [
                (
                    each.name,
                    ", ".join(f"`{text}`" for text in each.outcome["unseen"]),
                    f"{each.document.figures.allocations:,}",
                    size(each.document.figures.peak_live_bytes),
                    each.document.winner,
                    str(judgement.blocks),
                )
                for each, judgement in judged
                if each.document is not None
            ],
        ),
    ]
    if others := list(_others(found, every)):
        parts += ["## Programs without a judgement", "\n".join(others)]
    if notes := list(_notes(found)):
        parts += ["## Notes of the searches", "\n".join(notes)]
    return "\n\n".join(parts) + "\n"


def _budget(found: Sequence[Kept]) -> float:
    """The most frequent one, in minutes."""
    return mode(float(each.outcome["budget_min"]) for each in found)


def _summary(found: Sequence[Kept], every: Sequence[str]) -> Iterator[str]:
    """The goal, and the conditions of the searches."""
    documents = [each.document for each in found if each.document is not None]
    judged = [each.judged for each in found if each.judged is not None]
    use = [each for each in documents if each.answer.action == "tailored"]
    better = [each for each in judged if each.beside[0].verdict == "better"]
    ran = [each for each in found if each.outcome["status"] != int(ExitCode.INTERRUPTED)]
    yield (
        f"- On {len(use)} of {len(every)} programs, the answer is the tailored allocator. The goal "
        f"is {GOAL}."
    )
    yield f"- On {len(better)}, it is better than the fastest existing allocator."
    yield f"- {len(ran)} of {len(every)} programs were searched, and {len(judged)} were judged."
    if documents:
        machine = documents[0].environment
        dates = sorted({each.environment.date[:10] for each in documents})
        loads = [load for each in found for load in each.outcome["load"]]
        minutes = [each.outcome["seconds"] / 60 for each in found if each.document is not None]
        date = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        yield (
            f"- Measured {date} on {machine.cpus} processors with {machine.kernel.split()[0]} "
            f"{machine.kernel.split()[1].split('-')[0]} and {machine.libc}."
        )
        yield (
            f"- The load average was {median(loads):.1f} in the median and {max(loads):.1f} at "
            "most, taken before and after each search. A search itself uses up to two processors."
        )
        yield f"- A complete search took {median(minutes):.1f} minutes in the median."
        others = [each for each in found if each.outcome["budget_min"] != _budget(found)]
        if others:
            texts = [f"{each.name} {each.outcome['budget_min']:g} min" for each in others]
            yield f"- Budgets other than {_budget(found):g} min: {', '.join(texts)}."
        yield from _refinements(documents)
    yield (
        "- Raw data: [campaign.json](campaign.json), and beside it of each program the document of "
        "the search and the runs on the unseen input."
    )


def _refinements(documents: Sequence[Tailoring]) -> Iterator[str]:
    """How many winners were refined, and why the others were not."""
    known = [each.refinement for each in documents if each.refinement is not None]
    refined = [each for each in known if each.rounds]
    won = [each for each in refined if any(it.winner != it.beside for it in each.rounds)]
    yield (
        f"- Searches that refined the winner of the race: {len(refined)}. A neighbour won in "
        f"{len(won)} of them. Without time for it: {len(known) - len(refined)}."
    )
    if older := len(documents) - len(known):
        yield (
            "- Searches made before `tailor` could refine a winner, or serve call sites from heaps "
            f"of their own: {older}."
        )


def _beside(other: Beside) -> tuple[str, str, str, str]:
    return (other.allocator, _ratio(other.time), _ratio(other.memory), other.verdict)


def _ratio(ratio: Ratio | None) -> str:
    return "none" if ratio is None else change(ratio)


def _answer(each: Kept) -> str:
    assert each.document is not None
    answer = each.document.answer
    return "tailored" if answer.action == "tailored" else answer.allocator or answer.action


def _others(found: Sequence[Kept], every: Sequence[str]) -> Iterator[str]:
    """Why programs have no judgement."""
    for each in found:
        if each.judged is not None:
            continue
        if each.document is not None:
            notes = "; ".join(each.document.answer.notes)
            yield f"- {each.name}: {each.document.answer.reason} ({notes})"
        elif each.outcome["status"] == int(ExitCode.INTERRUPTED):
            yield f"- {each.name}: interrupted"
        else:
            yield f"- {each.name}: {each.outcome['why']}"
    names = {each.name for each in found}
    if left := [name for name in every if name not in names]:
        yield f"- not begun: {', '.join(left)}"


def _notes(found: Sequence[Kept]) -> Iterator[str]:
    """Those that say what a search did without."""
    by_note: dict[str, list[str]] = {}
    for each in found:
        if each.judged is None or each.document is None:
            continue
        for note in each.document.answer.notes:
            by_note.setdefault(note, []).append(each.name)
    for note, names in by_note.items():
        yield f"- {', '.join(names)}: {note}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, *rows]
    cells = [
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    ]
    return "\n".join([cells[0], "|" + "---|" * len(heads), *cells[1:]])


def main() -> int:
    """Write the page, or compare it."""
    found = kept(FOLDER)
    if not found:
        sys.stderr.write("there is no campaign: run benchmarks/tailored_programs.py first\n")
        return 2
    made = page(found, preloadable_names())
    path = FOLDER / NAME
    if "--check" in sys.argv[1:]:
        return int(not path.is_file() or path.read_text(encoding="utf-8") != made)
    path.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
