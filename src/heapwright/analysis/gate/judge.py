# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Two documents in, one answer out: slower, faster, the same, or undecided.

Every figure asked for, of every treatment in both documents, is one question; `confidence` holds
for all answers together, because each of k questions may err with (1 - confidence) / k. The whole
is as bad as its worst part: broken, then worse, then undecided, then better, then the same.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from heapwright import __version__
from heapwright.analysis.gate.comparability import differences, refusals
from heapwright.analysis.gate.documents import Document, Figure
from heapwright.analysis.gate.sentence import finding, sentence
from heapwright.analysis.gate.welch import Answer, Difference, Sample
from heapwright.artefacts.gate.document import Change, Gate, Shift
from heapwright.base.errors import ExitCode, HeapwrightError

FIRST_BLOCKS = 10
"""What is advised where there are too few blocks to see any scatter."""
THIN = 0.7
"""Effective values for each run below which drift is told."""
WORST_FIRST = (
    Change.BROKEN,
    Change.SLOWER,
    Change.LARGER,
    Change.UNDECIDED,
    Change.FASTER,
    Change.SMALLER,
    Change.SAME,
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the two documents."""

    margin: float
    confidence: float = 0.95
    responses: tuple[str, ...] = ()
    """None named: time, or the first that there is."""
    treatments: tuple[str, ...] = ()
    """None named: all that are in both."""
    relative: bool = False
    accept_differences: bool = False


def judge(baseline: Document, current: Document, question: Question) -> Gate:
    """The answer. Raises HeapwrightError for documents that cannot be held against each other."""
    if baseline.values and baseline.values == current.values:
        raise HeapwrightError(
            f"{baseline.name} and {current.name} hold the same runs: there is nothing to compare"
        )
    against = list(refusals(baseline, current, relative=question.relative))
    if against and not question.accept_differences:
        relative = not question.relative and not any(refusals(baseline, current, relative=True))
        raise HeapwrightError(against[0], _way_out(relative=relative))
    notes = [*against, *differences(baseline, current, relative=question.relative)]
    notes += _only_in_one(baseline, current)
    if question.relative:
        baseline, current = baseline.relative(), current.relative()
    broken = list(_broken(baseline, current, question))
    pairs = _pairs(baseline, current, question)
    if not pairs and not broken:
        raise HeapwrightError(
            "nothing can be compared: no treatment has good runs in both documents",
            "; ".join(notes),
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    level = 1 - 2 * (1 - question.confidence) / max(len(pairs), 1)
    found = []
    for pair in pairs:
        difference = Difference(Sample.of(baseline.sample(*pair)), Sample.of(current.sample(*pair)))
        found.append(_shift(pair, difference, current.figures[pair[1]], question.margin, level))
    shifts = sorted([*broken, *found], key=_gravity)
    notes += [*_failed_before(baseline, current), *_drift(baseline, current, pairs)]
    notes += _common_shift(baseline, found, question)
    return Gate(
        heapwright_version=__version__,
        verdict=shifts[0].change,
        sentence=sentence(shifts, question.margin),
        baseline=baseline.name,
        current=current.name,
        margin=question.margin,
        confidence=question.confidence,
        level=level,
        relative=question.relative,
        shifts=tuple(shifts),
        notes=tuple(notes),
    )


def _way_out(*, relative: bool) -> str:
    lines = ["--relative compares ratios to each document's baseline"] if relative else []
    return "\n".join([*lines, "--accept-differences compares all the same, and says so"])


def _pairs(baseline: Document, current: Document, question: Question) -> list[tuple[str, str]]:
    """(treatment, response) with figures in both; HeapwrightError for a name that is in neither."""
    known = baseline.identities.keys() | current.identities.keys()
    for treatment in question.treatments:
        if treatment not in known:
            raise HeapwrightError(
                f"there is no treatment {treatment!r}", f"there are {', '.join(sorted(known))}"
            )
    figures = dict.fromkeys((*baseline.figures, *current.figures))
    responses = question.responses or (("time",) if "time" in figures else tuple(figures)[:1])
    for response in responses:
        if response not in figures:
            raise HeapwrightError(
                f"there is no response {response!r}", f"there are {', '.join(figures)}"
            )
    wanted = dict.fromkeys(question.treatments or baseline.identities)
    return [
        (treatment, response)
        for treatment in wanted
        for response in dict.fromkeys(responses)
        if (treatment, response) in baseline.values and (treatment, response) in current.values
    ]


def _shift(
    pair: tuple[str, str], difference: Difference, figure: Figure, margin: float, level: float
) -> Shift:
    first, second = difference.first, difference.second
    limits = (math.log(1 - margin), math.log(1 + margin))
    answer = difference.answer(level, *limits)
    change = _change(answer, figure)
    low, high = (_ratio(end) for end in difference.interval(level))
    more = None
    if change is Change.UNDECIDED:
        needed = difference.blocks_needed(level, *limits)
        fewest = min(first.count, second.count)
        if needed is not None:
            more = max(needed - fewest, 1)
        elif fewest == 1:
            more = FIRST_BLOCKS - 1
    shift = Shift(
        treatment=pair[0],
        response=pair[1],
        change=change,
        ratio=math.exp(difference.estimate),
        low=low,
        high=high,
        runs=(first.count, second.count),
        scatter=(_known(first.deviation), _known(second.deviation)),
        more_blocks=more,
    )
    return shift.model_copy(update={"words": finding(shift, figure, margin)})


def _change(answer: Answer, figure: Figure) -> Change:
    if answer in {"within", "open"}:
        return Change.SAME if answer == "within" else Change.UNDECIDED
    if not figure.is_speed:
        return Change.LARGER if answer == "above" else Change.SMALLER
    worse = (answer == "above") == figure.less_is_better
    return Change.SLOWER if worse else Change.FASTER


def _gravity(shift: Shift) -> tuple[int, float]:
    """The gravest first; among alike ones the largest change."""
    return WORST_FIRST.index(shift.change), -abs(math.log(shift.ratio)) if shift.ratio else 0.0


def _ratio(logarithm: float) -> float | None:
    return math.exp(logarithm) if abs(logarithm) < 700 else None


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _broken(baseline: Document, current: Document, question: Question) -> Iterator[Shift]:
    """Treatments that were sound and are not any more."""
    for treatment, how in current.failures.items():
        asked = not question.treatments or treatment in question.treatments
        if asked and treatment in baseline.identities and treatment not in baseline.failures:
            yield Shift(
                treatment=treatment,
                response="outcome",
                change=Change.BROKEN,
                runs=(0, 0),
                words=f"does not always end well any more: {how}",
            )


def _failed_before(baseline: Document, current: Document) -> Iterator[str]:
    for treatment, how in baseline.failures.items():
        now = current.failures.get(treatment)
        if treatment in current.identities:
            after = f"and now {now}" if now else "and ends well now"
            yield f"{treatment} has no figures: in the baseline it was {how}, {after}"


def _only_in_one(baseline: Document, current: Document) -> Iterator[str]:
    for one, other in ((baseline, current), (current, baseline)):
        alone = [each for each in one.identities if each not in other.identities]
        if alone:
            yield f"only in {one.name}: {', '.join(alone)}"


def _drift(baseline: Document, current: Document, pairs: list[tuple[str, str]]) -> Iterator[str]:
    for treatment, response in pairs:
        for document in (baseline, current):
            sample = Sample.of(document.sample(treatment, response))
            if sample.thinning < THIN:
                yield (
                    f"{response} of {treatment} drifts through {document.name}: its {sample.count} "
                    f"blocks count as {sample.effective:.0f}"
                )


def _common_shift(baseline: Document, found: list[Shift], question: Question) -> Iterator[str]:
    """An allocator that is itself unchanged and yet moves tells of the machine or the program."""
    if question.relative or len({shift.treatment for shift in found}) < 2:
        return
    for shift in found:
        if (
            baseline.references.get(shift.treatment) != shift.treatment
            or shift.low is None
            or shift.high is None
        ):
            continue
        if shift.low > 1 or shift.high < 1:
            yield (
                f"{shift.response} of {shift.treatment}, the baseline of both documents, moved by "
                f"{100 * ((shift.ratio or 1) - 1):+.1f} % itself: the program or the machine "
                "changed; --relative takes out what all treatments share"
            )
