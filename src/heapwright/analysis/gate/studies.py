# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a study, as a gate needs them.

A treatment has the name of its levels. Its ratios refer to the treatment whose other levels are the
same and whose allocator is the study's baseline. Of several hosts the one with most runs stands for
all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from heapwright.analysis.gate.documents import STUDY, Document, Figure, bad_ends
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.reader import Results
from heapwright.artefacts.study_results.runs import Cell, StudyDesign
from heapwright.base.errors import HeapwrightError
from heapwright.base.polars_package import pl

ALLOCATOR = "allocator"


def of_results(name: str, results: Results) -> Document:
    """What `study run` wrote. Raises HeapwrightError if it is not known where."""
    design = results.design
    frame = results.frame()
    labels = {cell.id: label_of(cell) for cell in design.treatments}
    failures = _failures(frame, labels)
    good = frame.filter(~pl.col("warmup") & (pl.col("outcome") == Outcome.OK.value))
    values: dict[tuple[str, str], dict[int, float]] = {}
    for measured in design.responses:
        for treatment, block, value in good.select("treatment", "block", measured.name).rows():
            label = labels.get(treatment)
            if label is not None and label not in failures and value is not None and value > 0:
                values.setdefault((label, measured.name), {})[block] = float(np.log(value))
    hosts = Counter(host for host in frame["host"].to_list() if host in results.environments)
    if not hosts:
        raise HeapwrightError(f"{name} does not say on which machine its runs were made")
    machine = results.environments[hosts.most_common(1)[0][0]]
    known = {each.name: f"{each.version} {each.sha256}" for each in machine.allocators}
    return Document(
        name=name,
        kind=STUDY,
        subject=(design.study, design.scale, design.sha256),
        environment=machine,
        pinned_cpus=(),
        references=_references(design, labels),
        identities={labels[cell.id]: known.get(cell.allocator, " ") for cell in design.treatments},
        figures={
            each.name: Figure(each.name, each.unit, each.better != "higher")
            for each in design.responses
        },
        values=values,
        failures=failures,
    )


def label_of(cell: Cell) -> str:
    """Such as "jemalloc, 16..64, 4"."""
    return ", ".join(cell.levels.values())


def _references(design: StudyDesign, labels: Mapping[str, str]) -> dict[str, str]:
    """By label; a treatment whose reference is not in the design has itself."""
    by_levels = {frozenset(cell.levels.items()): labels[cell.id] for cell in design.treatments}
    references = {}
    for cell in design.treatments:
        at_baseline = cell.levels | (
            {ALLOCATOR: design.baseline} if ALLOCATOR in cell.levels else {}
        )
        label = labels[cell.id]
        references[label] = by_levels.get(frozenset(at_baseline.items()), label)
    return references


def _failures(frame: pl.DataFrame, labels: Mapping[str, str]) -> dict[str, str]:
    """Treatments with a run that did not end well, a discarded one included."""
    bad = frame.filter(pl.col("outcome") != Outcome.OK.value)
    counts: dict[str, Counter[Outcome]] = {}
    for treatment, outcome in bad.select("treatment", "outcome").rows():
        if treatment in labels:
            counts.setdefault(labels[treatment], Counter())[Outcome(outcome)] += 1
    return {label: bad_ends(found) for label, found in counts.items()}
