# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/kernel-traffic/by-traffic.md: which allocator serves which traffic best.

    python scripts/kernel_traffic_page.py [--check]

Run it with the environment that has the tool, after a change of the documents beside the page. They
are those of `kernel models --trace FILE --counts --json`, compressed. Those in the folder kernels/
are of `kernel replay FILE --json`. `--check` writes nothing. Its exit status is 1 if the page is
not up to date.
"""

import gzip
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from heapwright.analysis.kernelsim import model_errors
from heapwright.artefacts.kernel_study.replay import KernelReplay, KernelReplays
from heapwright.artefacts.kernelsim.document import MODELS, KernelModels, ModelCounts, ModelRun
from heapwright.kernel.machine import NS_OF_INSTRUCTION

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path("docs/results/kernel-traffic")
PAGE = FOLDER / "by-traffic.md"
EQUAL = 1.01
"""A model shares the first place if it has at most this times the least figure."""
PAGE_KIB = 4
HEAD = """# Kernel traffic on the four allocators

Traffic that was recorded on an emulated kernel, replayed on the four models and in real kernels.
Read this page for the allocator that serves each traffic best, by instructions, by locks and by
memory.

```sh
python scripts/kernel_traffic_page.py   # writes this page
```

*Least* is the model with the smallest figure. Models within 1 % of it share the place. *Order*
sorts all, with an equals sign between neighbours within 1 %. The counts repeat exactly, so there
are no intervals. They are of one recording, with seed 1.

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


KERNELS = """## The same traffic in real kernels

`heapwright kernel replay` carried out the same requests, except the last frees, in kernels with
these allocators. The slab memory is that of the replay alone: that before the first request is
subtracted. All means are over the marks of the trace, those of the models too. *Models* is the
order of the models by the same figure.

The last frees are those of all objects that are live at the end of the trace. The replay and the
models free them in another order. With several processors they also do so on another processor."""
KERNEL_MEMORY: Mapping[str, tuple[Callable[[KernelReplay], float], Callable[[ModelRun], float]]] = {
    "Slab memory in kernels on average, KiB": (
        lambda kernel: fmean(kernel.slab_pages) * PAGE_KIB,
        lambda run: fmean(at_marks(run)) * PAGE_KIB,
    ),
    "Slab memory in kernels at most, KiB": (
        lambda kernel: max(kernel.slab_pages) * PAGE_KIB,
        lambda run: max(at_marks(run)) * PAGE_KIB,
    ),
    "Slab memory that kernels keep when all objects are freed, KiB": (
        lambda kernel: kernel.kept_pages * PAGE_KIB,
        lambda run: run.slab_pages.kept * PAGE_KIB,
    ),
}


def at_marks(run: ModelRun) -> list[int]:
    """Pages of slab memory of a model at the marks of the trace."""
    return [sample.slab_pages for sample in run.samples if sample.recorded is not None]


def replays(root: Path) -> dict[str, KernelReplays]:
    """By the name of the traffic: what real kernels reported."""
    return {
        path.name.removesuffix(".json.gz"): KernelReplays.from_json(
            gzip.decompress(path.read_bytes())
        )
        for path in sorted((root / FOLDER / "kernels").glob("*.json.gz"))
    }


def order(values: Mapping[str, float]) -> str:
    """All names, from the smallest figure to the largest."""
    names = sorted(values, key=lambda name: values[name])
    text = names[0]
    for before, name in pairwise(names):
        text += (" = " if values[name] <= values[before] * EQUAL else " < ") + name
    return text


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
    parts += _kernels(found, replays(root))
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


def _kernels(found: Mapping[str, KernelModels], replayed: Mapping[str, KernelReplays]) -> list[str]:
    """The sections of real kernels."""
    parts = [KERNELS]
    for title, (of_kernel, of_model) in KERNEL_MEMORY.items():
        rows = []
        for traffic, document in replayed.items():
            kernels, models = _by_kernel(document), _by_model(found[traffic])
            values = {name: of_kernel(kernels[name]) for name in MODELS}
            modelled = {name: of_model(models[name]) for name in MODELS}
            cells = [f"{value:,.0f}" for value in values.values()]
            rows.append((traffic, *cells, order(values), order(modelled)))
        parts.append(f"### {title}\n\n" + _markdown(("traffic", *MODELS, "order", "models"), rows))
    parts.append(_instructions(found, replayed))
    parts.append(_differences(found, replayed))
    return parts


def _by_kernel(document: KernelReplays) -> dict[str, KernelReplay]:
    return {each.kernel.allocator: each for each in document.kernels}


def _by_model(document: KernelModels) -> dict[str, ModelRun]:
    return {str(run.model): run for run in document.runs[0].models}


def _instructions(
    found: Mapping[str, KernelModels],
    replayed: Mapping[str, KernelReplays],
) -> str:
    """The path of one event, where time is virtual."""
    rows = []
    for traffic, document in replayed.items():
        if document.processors == 1:
            kernels, models = _by_kernel(document), _by_model(found[traffic])
            each = NS_OF_INSTRUCTION * document.timed
            values = {name: kernels[name].request_ns / each for name in MODELS}
            modelled = {name: float(_counts(models[name]).instructions_in_all) for name in MODELS}
            cells = [
                f"{value:,.0f} ({modelled[name] / document.timed:,.0f})"
                for name, value in values.items()
            ]
            rows.append((traffic, *cells, order(values), order(modelled)))
    return (
        "### Instructions for an event in kernels\n\n"
        "The mean of all events of the recording. In parentheses: the virtual instructions of the "
        "model.\nThe kernel's figure includes the page allocator and everything else that runs "
        "meanwhile. With four\nprocessors time is the host's, so it has no row.\n\n"
        + _markdown(("traffic", *MODELS, "order", "models"), rows)
    )


def _differences(
    found: Mapping[str, KernelModels],
    replayed: Mapping[str, KernelReplays],
) -> str:
    """The distance of each model from its own kernel."""
    rows = []
    for traffic, document in replayed.items():
        kernels, models = _by_kernel(document), _by_model(found[traffic])
        cells = []
        for name in MODELS:
            pairs = list(zip(at_marks(models[name]), kernels[name].slab_pages, strict=True))
            mean = sum(ours for ours, _ in pairs) / sum(theirs for _, theirs in pairs) - 1
            worst = max((ours / theirs - 1 for ours, theirs in pairs), key=abs)
            cells.append(f"{mean:+.1%}, {worst:+.1%}")
        rows.append((traffic, *cells))
    return (
        "### Models beside their own kernels\n\n"
        "Slab memory under the same requests: the mean of the marks, and the mark with the largest "
        "difference.\n\n" + _markdown(("traffic", *MODELS), rows)
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
