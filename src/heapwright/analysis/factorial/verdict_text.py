# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict of a study in a sentence or two: the best allocator in each response, and its
price."""

from collections.abc import Sequence

from heapwright.artefacts.study_analysis.document import (
    Best,
    Better,
    Ranking,
    RankingEntry,
    ResponseAnalysis,
    Verdict,
)

SAID = 2
"""The number of responses in the verdict; the rankings have the others."""


def verdict(responses: Sequence[ResponseAnalysis], baseline: str, margin: float = 0.0) -> Verdict:
    """The first responses with a direction, by their overall rankings.

    A difference within `margin`, a share, is called one that does not matter. Allocators that the
    runs do not distinguish are called equal only if the intervals lie within the margin.
    """
    judged = [each for each in responses if each.better != "none" and each.rankings]
    if not any(each.runs for each in responses):
        return Verdict(text="No good run tells one allocator from another.")
    if not judged:
        why = "no factor chooses the allocator, or no response says what is better"
        return Verdict(text=f"Nothing is ranked: {why}.")
    if len(judged[0].rankings[0].entries) < 2:
        return Verdict(text="There are runs of one allocator only: nothing is ranked.")
    best = tuple(Best(response=each.name, allocators=_first(each.rankings[0])) for each in judged)
    sentences = [_sentence(each, baseline, margin) for each in judged[:SAID]]
    shared = set(best[0].allocators).intersection(*(each.allocators for each in best[1:SAID]))
    if len(judged) > 1 and not shared:
        names = " and ".join(each.name for each in judged[:SAID])
        sentences.append(f"No allocator is best in both {names}.")
    return Verdict(text=" ".join(sentences), best=best)


def _first(ranking: Ranking) -> tuple[str, ...]:
    """The best, then those that do not differ from it."""
    top = ranking.entries[0]
    ties = [each for each in ranking.entries[1:] if "a" in each.group and "a" in top.group]
    return (top.allocator, *(each.allocator for each in ties))


def _sentence(response: ResponseAnalysis, baseline: str, margin: float) -> str:
    ranking = response.rankings[0]
    top, second = ranking.entries[0], ranking.entries[1]
    ties = _first(ranking)[1:]
    tied = [each for each in ranking.entries if each.allocator in ties]
    if open_ones := [each for each in tied if not _equal(top, each, baseline, margin)]:
        return _undecided(response, top, open_ones) + _doubt(ranking)
    said = f"In {response.name}, {top.allocator} is best"
    if ties:
        said += f", no different from {_and(ties)} by more than {100 * margin:g} %"
    elif second.allocator != baseline or top.ratio is None:
        said += f"; {second.allocator}, the next, is {_apart(second, response.better)} it"
    if top.ratio is not None and baseline not in (top.allocator, *ties):
        itself = "," if second.allocator == baseline else "; it is itself"
        said += f"{itself} {_against(top, top.ratio, baseline)}"
    if not ties and 0 < (second.percent_over_best or 0) <= 100 * margin:
        said += f" (a difference within {100 * margin:g} % does not matter)"
    return f"{said}." + _doubt(ranking)


def _equal(top: RankingEntry, tie: RankingEntry, baseline: str, margin: float) -> bool:
    """Whether their ratio surely lies within the margin, by the intervals of both."""
    bounds = []
    for each in (top, tie):
        if each.allocator == baseline:
            bounds.append((1.0, 1.0))
        elif each.low is not None and each.high is not None and each.low > 0:
            bounds.append((each.low, each.high))
        else:
            return False
    (low, high), (tie_low, tie_high) = bounds
    return 1 - margin <= low / tie_high and high / tie_low <= 1 + margin


def _undecided(
    response: ResponseAnalysis, top: RankingEntry, open_ones: Sequence[RankingEntry]
) -> str:
    rivals = [
        f"{each.allocator} ({_apart(each, response.better)})"
        if each.percent_over_best is not None
        else each.allocator
        for each in open_ones
    ]
    word = "highest" if response.better == "higher" else "lowest"
    return (
        f"In {response.name}, it is undecided which is best: {top.allocator} has the {word} mean, "
        f"but the runs cannot tell it from {_and(rivals)}."
    )


def _against(top: RankingEntry, ratio: float, baseline: str) -> str:
    """The ratio to the baseline, as a share."""
    word = "below" if ratio < 1 else "above"
    bounds = ""
    if top.low is not None and top.high is not None:
        bounds = f" (ratio {top.low:.3f} to {top.high:.3f})"
    return f"{100 * abs(1 - ratio):.1f} % {word} {baseline}{bounds}"


def _apart(second: RankingEntry, better: Better) -> str:
    """How far the next is from the best, as in `33.1 % above`."""
    side = "below" if better == "higher" else "above"
    if second.percent_over_best is None:
        return side
    return f"{second.percent_over_best:.1f} % {side}"


def _doubt(ranking: Ranking) -> str:
    if ranking.absent:
        return f" {_and(ranking.absent)} had too few good runs to be ranked."
    if any(each.failed for each in ranking.entries):
        names = [each.allocator for each in ranking.entries if each.failed]
        return f" Some runs of {_and(names)} failed."
    return ""


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
