# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One sentence over the levels of the parameters, each of which has a verdict of its own.

    all levels name the same candidate, not the baseline    switch to it
    all levels stay                                         stay
    else                                                    undecided: it depends on the level

Each verdict holds with the confidence of the comparison. The sentence claims nothing beyond them.
"""

from collections.abc import Sequence

from heapwright.analysis.ratio_text import listed
from heapwright.analysis.verdict import undecided
from heapwright.artefacts.comparison.document import Level, Verdict, label_of
from heapwright.artefacts.comparison.levels import level_name

MOST_LISTED = 4


def overall(levels: Sequence[Level]) -> Verdict:
    """The verdict on all `levels`, at least one."""
    verdicts = [level.verdict for level in levels]
    advised = {(each.action, each.allocator, each.level) for each in verdicts}
    first = verdicts[0]
    if len(advised) > 1 or first.allocator is None:
        return undecided(_depends(levels))
    label = label_of(first.allocator, first.level)
    names = [level_name(level) for level in levels]
    every = _listed(names) if len(names) <= MOST_LISTED else f"all {len(names)} levels"
    update: dict[str, object] = {"notes": ()}
    if first.action == "switch":
        update["reason"] = f"Switch to {label} at {every}"
        update["how"] = (f"at {level_name(levels[0])}:", *first.how)
    else:
        update["reason"] = f"Nothing better is shown at {every}: keep {label}"
    return first.model_copy(update=update)


def _depends(levels: Sequence[Level]) -> str:
    """Such as "it depends: switch to new at threads=4; keep old at threads=1"."""
    advice: dict[str, list[str]] = {}
    for level in levels:
        advice.setdefault(_advice(level.verdict), []).append(level_name(level))
    if len(advice) == 1:
        return f"no level is decided: {_listed([level_name(level) for level in levels])}"
    said = [f"{what} at {_listed(names)}" for what, names in advice.items()]
    return f"it depends on the level: {'; '.join(said)}"


def _advice(verdict: Verdict) -> str:
    if verdict.allocator is None:
        return "not decided"
    verb = "switch to" if verdict.action == "switch" else "keep"
    return f"{verb} {label_of(verdict.allocator, verdict.level)}"


def _listed(names: Sequence[str]) -> str:
    """Names that may have commas in them."""
    return listed([f"({name})" if "," in name else name for name in names])
