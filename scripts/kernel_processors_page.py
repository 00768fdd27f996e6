# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/kernel-processors/by-processors.md: the four models by processors.

    python scripts/kernel_processors_page.py [--check]

Run it with the environment that has the tool, after a change of the runs beside the page. Ratios
are those within a block, over both sizes of the machine; blocks are the replicates. `--check`
writes nothing. Its exit status is 1 if the page is not up to date.
"""

import csv
import math
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from heapwright.analysis.paired import Ratio, paired_ratio
from heapwright.artefacts.kernelsim.document import MODELS
from heapwright.artefacts.study_results.reader import open_results

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path("docs/results/kernel-processors")
PAGE = FOLDER / "by-processors.md"
PUBLISHED = Path("catalogue/studies/published/ferreira-kernel-means.csv")
BASELINE = "slub"
LEVEL = 0.95
RATIOS = {
    "time": "Virtual time",
    "path": "Virtual time if lines moved for nothing",
    "slab_memory": "Slab memory, on average",
}
COUNTS = {
    "lock_takes": "Acquisitions of shared locks, in thousands",
    "hand_overs": "Acquisitions after another processor, in thousands",
    "transfers": "Cache lines moved for the allocator, in thousands",
    "user_transfers": "Cache lines moved for the users of objects, in thousands",
}
SHARES = {
    "fragmentation_events": "Fragmentation events",
    "unusable_3": "Free memory that is unusable for order 3, in percent",
    "unusable_9": "Free memory that is unusable for order 9, in percent",
    "filled": "Requested bytes over slab memory, in percent",
}
HEAD = """# Kernel allocators by processors

The four models on 1, 2, 4 and 8 simulated processors, with all blocks of [the study](README.md) as
replicates. Read this page for the ranking at each number of processors.

```sh
python scripts/kernel_processors_page.py   # writes this page
```

Ratios are geometric means over the blocks and both sizes of the machine, with 95 % intervals of
Student. Each block has its own seeds. *Order* sorts the models by the figure. An equals sign stands
between neighbours whose ratio to each other has an interval that contains 1. *Published* is the
order of the printed figures, if there are such."""

Figures = dict[tuple[str, int, int, str, int], dict[str, float]]
"""By load, memory, processors, model and block: each response."""


def figures(root: Path) -> Figures:
    """The good runs."""
    found: Figures = {}
    for row in open_results(root / FOLDER).frame().iter_rows(named=True):
        if row["time"] is not None and row["block"] > 0:
            key = (row["load"], int(row["memory"]), int(row["processors"]), row["model"])
            found[*key, row["block"]] = row
    return found


class Table:
    """The figures of one study, looked up by level."""

    def __init__(self, found: Figures, published: Sequence[dict[str, str]]) -> None:
        self._found = found
        self._published = published
        self.loads = sorted({key[0] for key in found})
        self.memories = sorted({key[1] for key in found})
        self.processors = sorted({key[2] for key in found})
        self.blocks = sorted({key[4] for key in found})

    def means(self, response: str, load: str, processors: int, model: str) -> list[float]:
        """Of each block, the geometric mean over the sizes of the machine."""
        return [
            math.exp(
                statistics.fmean(
                    math.log(self._found[load, memory, processors, model, block][response])
                    for memory in self.memories
                )
            )
            for block in self.blocks
        ]

    def values(
        self, response: str, load: str, memory: int, processors: int, model: str
    ) -> list[float]:
        """Of each block."""
        return [
            self._found[load, memory, processors, model, block][response] for block in self.blocks
        ]

    def printed(self, response: str, load: str, processors: int) -> str:
        """The published order; empty if no figures are printed."""
        lines = [
            (float(line["mean"]), line["model"])
            for line in self._published
            if (line["response"], line["load"]) == (response, load)
            and line["processors"] == str(processors)
        ]
        return " < ".join(model for _, model in sorted(lines))


def page(root: Path = ROOT) -> str:
    """The whole page."""
    with (root / PUBLISHED).open(encoding="utf-8", newline="") as file:
        table = Table(figures(root), list(csv.DictReader(file)))
    parts = [HEAD]
    for response, title in RATIOS.items():
        rows = _ratios(table, response)
        columns = ("load", "processors", *MODELS, "order", "published")
        parts.append(f"## {title}, over SLUB's\n\n" + _markdown(columns, rows))
    for response, title in COUNTS.items():
        rows = _counts(table, response)
        parts.append(f"## {title}\n\n" + _markdown(("load", "processors", *MODELS), rows))
    parts.append(
        "In the next tables, each cell is the mean of the blocks, with the least and the most."
    )
    for response, title in SHARES.items():
        rows = _shares(table, response)
        headings = ("load", "MiB", "processors", *MODELS)
        parts.append(f"## {title}\n\n" + _markdown(headings, rows))
    return "\n\n".join(parts) + "\n"


def _ratios(table: Table, response: str) -> Iterator[Sequence[str]]:
    for load in table.loads:
        for processors in table.processors:
            means = {each: table.means(response, load, processors, each) for each in MODELS}
            cells = [_ratio_text(_ratio(means[BASELINE], means[each])) for each in MODELS]
            own = f"{statistics.geometric_mean(means[BASELINE]):,.0f}"
            cells[MODELS.index(BASELINE)] = f"1: {own}"
            yield (
                load,
                str(processors),
                *cells,
                order(means),
                table.printed(response, load, processors),
            )


def order(means: dict[str, list[float]]) -> str:
    """The models by the mean of their blocks."""
    ranked = sorted(means, key=lambda each: statistics.fmean(means[each]))
    text = ranked[0]
    for better, worse in pairwise(ranked):
        ratio = _ratio(means[better], means[worse])
        apart = ratio.low is not None and ratio.low > 1
        text += f" {'<' if apart else '='} {worse}"
    return text


def _ratio(baseline: Sequence[float], current: Sequence[float]) -> Ratio:
    ratio = paired_ratio(baseline, current, LEVEL)
    assert ratio is not None, "times and memory are above zero"
    return ratio


def _ratio_text(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{ratio.ratio:.3g}"
    return f"{ratio.ratio:.3g} ({ratio.low:.3g} to {ratio.high:.3g})"


def _counts(table: Table, response: str) -> Iterator[Sequence[str]]:
    for load in table.loads:
        for processors in table.processors:
            sums = [
                statistics.fmean(
                    value
                    for memory in table.memories
                    for value in table.values(response, load, memory, processors, model)
                )
                for model in MODELS
            ]
            yield load, str(processors), *(f"{each / 1000:,.1f}" for each in sums)


def _shares(table: Table, response: str) -> Iterator[Sequence[str]]:
    times = 1 if response == "fragmentation_events" else 100
    digits = 0 if response == "fragmentation_events" else 1
    for load in table.loads:
        for memory in table.memories:
            for processors in table.processors:
                cells = []
                for model in MODELS:
                    values = table.values(response, load, memory, processors, model)
                    shown = (statistics.fmean(values), min(values), max(values))
                    mean, least, most = (f"{each * times:,.{digits}f}" for each in shown)
                    cells.append(f"{mean} ({least} to {most})")
                yield load, str(memory), str(processors), *cells


def _markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(words: Sequence[str]) -> int:
    """Write the page, or compare it."""
    made = page()
    path = ROOT / PAGE
    if list(words) == ["--check"]:
        return 0 if path.exists() and path.read_text(encoding="utf-8") == made else 1
    path.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
