# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a gate needs to know of a document: whose figures, of what, on which machine.

Comparisons and the results of studies are both reduced to this, so that the judging is one. As
everywhere, a treatment with any run that did not end well has no figures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from heapwright.analysis.analyse import RESPONSES, unit_of
from heapwright.analysis.blocked import value_of
from heapwright.analysis.gate.welch import Floats
from heapwright.artefacts.comparison.document import Comparison, count_outcomes
from heapwright.artefacts.comparison.levels import parameter_text
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Environment

COMPARISON = "comparison"
EXACT = "exact comparison"
STUDY = "study"
Blocks = Mapping[int, float]
"""The logarithm of a figure by block."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One response: what it is measured in, and whether less of it is better."""

    name: str
    unit: str
    less_is_better: bool = True

    @property
    def is_speed(self) -> bool:
        """Whether it becomes faster or slower, rather than smaller or larger."""
        return self.unit in {"s", "ms", "us", "ns"} or not self.less_is_better


@dataclass(frozen=True, slots=True)
class Document:
    """One side of a gate."""

    name: str
    kind: str
    """`comparison`, `exact comparison`, `replay` or `study`."""
    subject: tuple[str, ...]
    """What was run: the words of the command, a trace and how it is replayed, a study."""
    environment: Environment
    pinned_cpus: tuple[int, ...]
    references: Mapping[str, str]
    """Treatment to the one that its ratios refer to; a reference has itself."""
    identities: Mapping[str, str]
    """Which allocator exactly each treatment had: version and hash."""
    figures: Mapping[str, Figure]
    values: Mapping[tuple[str, str], Blocks]
    """(treatment, response) -> the good measured runs."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """How treatments ended that did not always end well."""
    raced: bool = False
    """A race chose the number of blocks."""
    times: tuple[float | None, ...] = ()
    """The wall time of each run: two measurements never share all of them."""

    @property
    def is_exact(self) -> bool:
        """Whether the figures are exact counts."""
        return self.kind == EXACT

    def relative(self) -> "Document":
        """Each figure over that of its reference in the same block."""
        values: dict[tuple[str, str], Blocks] = {}
        for (treatment, response), blocks in self.values.items():
            reference = self.references.get(treatment, treatment)
            own = self.values.get((reference, response), {})
            if treatment != reference:
                both = blocks.keys() & own.keys()
                values[treatment, response] = {block: blocks[block] - own[block] for block in both}
        return replace(self, values=values)

    def has_figures(self, treatment: str) -> bool:
        """Whether there is any good run of `treatment`."""
        return any(treatment == each for each, _ in self.values)

    def sample(self, treatment: str, response: str) -> Floats:
        """The logarithms in the order of the blocks; empty if there are none."""
        blocks = self.values.get((treatment, response), {})
        return np.array([blocks[block] for block in sorted(blocks)], dtype=np.float64)


def of_comparison(name: str, comparison: Comparison) -> Document:
    """What `compare --json` or `replay --json` wrote."""
    keys = {each.key: each.label for each in comparison.treatments}
    measures = dict.fromkeys(name for run in comparison.runs for name in run.measures)
    exact = comparison.design.exact
    responses = tuple(measures) if exact else (*RESPONSES, *measures)
    values: dict[tuple[str, str], dict[int, float]] = {}
    failures = {
        label: outcomes
        for key, label in keys.items()
        if (outcomes := bad_ends(count_outcomes(comparison.runs, key)))
    }
    for run in comparison.runs:
        label = keys.get((run.allocator, run.level))
        if run.warmup or run.outcome is not Outcome.OK or label is None or label in failures:
            continue
        for response in responses:
            if (value := value_of(run, response)) is not None:
                values.setdefault((label, response), {})[run.block] = float(np.log(value))
    return Document(
        name=name,
        kind=EXACT if exact else COMPARISON if comparison.replay is None else "replay",
        times=tuple(run.wall_s for run in comparison.runs),
        subject=_subject(comparison),
        environment=comparison.environment,
        pinned_cpus=comparison.design.pinned_cpus,
        references=_references(comparison),
        identities={each.label: f"{each.version} {each.sha256}" for each in comparison.treatments},
        figures={response: Figure(response, unit_of(response)) for response in responses},
        values=values,
        failures=failures,
        raced=comparison.design.race is not None,
    )


def _references(comparison: Comparison) -> dict[str, str]:
    """The baseline of each treatment is the first at its level of the parameters."""
    found: dict[str, str] = {}
    baselines: dict[str, str] = {}
    for each in comparison.treatments:
        level = parameter_text(each.parameters)
        found[each.label] = baselines.setdefault(level, each.label)
    return found


def _subject(comparison: Comparison) -> tuple[str, ...]:
    commands = dict.fromkeys(each.command for each in comparison.treatments if each.command)
    if commands:
        return tuple(word for command in commands for word in (*command, ";"))[:-1]
    if comparison.replay is None:
        return comparison.command
    shape = comparison.replay.model_dump(exclude={"plan", "trace", "processes"})
    return (*comparison.command, *(f"{key}={value}" for key, value in shape.items()))


def bad_ends(outcomes: Mapping[Outcome, int]) -> str:
    """Such as "crashed once, timeout 3 times"; empty if all went well."""
    return ", ".join(
        f"{outcome} {'once' if count == 1 else f'{count} times'}"
        for outcome, count in outcomes.items()
        if outcome is not Outcome.OK
    )
