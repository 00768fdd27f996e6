# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/kernel-traffic/by-traffic.md: which model serves which recorded traffic best.

    python scripts/kernel_traffic_page.py [--check]

Run it with the environment that has the tool, after a change of the documents beside the page. They
are those of `kernel models --trace FILE --counts --json`, compressed. `--check` writes nothing. Its
exit status is 1 if the page is not up to date.
"""

import gzip
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from heapwright.analysis.kernelsim import model_errors
from heapwright.artefacts.kernelsim.document import MODELS, KernelModels, ModelCounts, ModelRun

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path("docs/results/kernel-traffic")
PAGE = FOLDER / "by-traffic.md"
EQUAL = 1.01
"""A model shares the first place if it has at most this times the least figure."""
PAGE_KIB = 4
HEAD = """# Kernel traffic on the four models

Traffic that was recorded on an emulated kernel, replayed on the four models. Read this page for the
model that serves each traffic best, by instructions, by locks and by memory.

```sh
python scripts/kernel_traffic_page.py   # writes this page
```

*Least* is the model with the smallest figure. Models within 1 % of it share the place. The counts
repeat exactly, so there are no intervals. They are of one recording, with seed 1.

*Events* are those of the recording. Objects *in all* and requests *in all* include what existed
when the recording began, because a model must first make that, too. Instructions, cache lines and
locks are those of the recording alone."""


def _counts(run: ModelRun) -> ModelCounts:
    assert run.counts is not None, "the documents are made with --counts"
    return run.counts


FIGURES: Mapping[str, Callable[[ModelRun], float]] = {
    "Virtual instructions, in thousands": lambda run: _counts(run).instructions_in_all / 1000,
    "Virtual time with 50 instructions for each moved cache line, in thousands": lambda run: (
        _counts(run).time / 1000
    ),
    "Cache lines that moved for the allocator": lambda run: _counts(run).transfers_in_all,
    "Acquisitions of shared locks": lambda run: _counts(run).lock_takes,
    "Slab memory on average, KiB": lambda run: run.slab_pages.mean * PAGE_KIB,
    "Slab memory at most, KiB": lambda run: run.slab_pages.peak * PAGE_KIB,
    "Requests to the page allocator, in all": lambda run: run.slabs_taken,
    "Slab memory kept when all objects are freed, KiB": lambda run: run.slab_pages.kept * PAGE_KIB,
}


def documents(root: Path) -> dict[str, KernelModels]:
    """By the name of the traffic. Every one has one number of processors."""
    return {
        path.name.removesuffix(".json.gz"): KernelModels.from_json(
            gzip.decompress(path.read_bytes())
        )
        for path in sorted((root / FOLDER).glob("*.json.gz"))
    }


def least(values: Mapping[str, float]) -> str:
    """The models with the smallest figure."""
    bound = min(values.values()) * EQUAL
    names = [name for name, value in values.items() if value <= bound]
    return "all" if len(names) == len(values) else ", ".join(names)


def page(root: Path = ROOT) -> str:
    """The whole page."""
    found = documents(root)
    parts = [HEAD, "## Traffic\n\n" + _traffic(found)]
    for title, figure in FIGURES.items():
        rows = []
        for name, document in found.items():
            found_figures = {str(run.model): figure(run) for run in document.runs[0].models}
            values = {model: found_figures[model] for model in MODELS}
            rows.append((name, *(f"{value:,.0f}" for value in values.values()), least(values)))
        parts.append(f"## {title}\n\n" + _markdown(("traffic", *MODELS, "least"), rows))
    parts.append(
        "## Models beside the recorded kernel\n\n"
        "The mean of the marks, and the mark with the largest difference.\n\n" + _errors(found)
    )
    return "\n\n".join(parts) + "\n"


def _traffic(found: Mapping[str, KernelModels]) -> str:
    rows = []
    for name, document in found.items():
        traffic = document.runs[0].traffic
        takes = {run.takes for run in document.runs[0].models}
        assert len(takes) == 1, "every model serves the same requests"
        rows.append(
            (
                name,
                traffic.kernel,
                str(traffic.processors),
                f"{traffic.events - traffic.prelude:,}",
                f"{takes.pop():,}",
                f"{traffic.lasts:.2f}",
            )
        )
    return _markdown(
        ("traffic", "recorded on", "processors", "events", "objects in all", "seconds"), rows
    )


def _errors(found: Mapping[str, KernelModels]) -> str:
    rows = []
    for name, document in found.items():
        errors = {error.model: error for error in model_errors(document)}
        cells = [
            f"{errors[model].mean_error:+.1%}, {errors[model].worst_error:+.1%}" for model in MODELS
        ]
        rows.append((name, *cells))
    return _markdown(("traffic", *MODELS), rows)


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def main() -> int:
    """Write the page, or compare it."""
    made = page()
    path = ROOT / PAGE
    if "--check" in sys.argv[1:]:
        return int(not path.is_file() or path.read_text(encoding="utf-8") != made)
    path.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
