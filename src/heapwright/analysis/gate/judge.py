# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Two documents in, one answer out: slower, faster, the same, or undecided.

Every requested figure, of every treatment in both documents, is one question. The value
`confidence` holds for all answers together, because each of k questions may err with (1 -
confidence) / k. The whole is as bad as its worst part: broken, then worse, then undecided, then
better, then the same.

A figure is judged relative to the baseline treatment that both documents share (`sides`). A figure
may be judged absolutely while that baseline moved the same way. A worse figure is then undecided,
because a slower machine and a slower program look alike.
"""

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heapwright import __version__
from heapwright.analysis.gate.comparability import differences, refusals
from heapwright.analysis.gate.documents import COMPARISON, STUDY, Document, Figure
from heapwright.analysis.gate.sentence import change_text, finding, sentence
from heapwright.analysis.gate.sequential import SequentialDifference, Side
from heapwright.analysis.gate.sides import Sides
from heapwright.analysis.gate.welch import Answer, Difference, Sample
from heapwright.artefacts.gate.document import Change, Gate, Shift
from heapwright.base.errors import ExitCode, HeapwrightError

FIRST_BLOCKS = 10
"""What is advised where there are too few blocks to see any scatter."""
THIN = 0.7
"""Effective values for each run below which drift is reported."""
WORST_FIRST = (
    Change.BROKEN,
    Change.SLOWER,
    Change.LARGER,
    Change.UNDECIDED,
    Change.FASTER,
    Change.SMALLER,
    Change.SAME,
)


Pair = tuple[str, str]
"""(treatment, response)"""


@dataclass(frozen=True, slots=True)
class Question:
    """The question about the two documents."""

    margin: float
    confidence: float = 0.95
    responses: tuple[str, ...] = ()
    """None named: time, or the first that there is."""
    treatments: tuple[str, ...] = ()
    """None named: all that are in both."""
    relative: bool | None = None
    """None: relative to the baseline that both documents share, where there is one."""
    accept_differences: bool = False


def judge(baseline: Document, current: Document, question: Question) -> Gate:
    """The answer. Raises HeapwrightError for documents that cannot be held against each other."""
    if baseline.values and (baseline.values, baseline.times) == (current.values, current.times):
        raise HeapwrightError(
            f"{baseline.name} and {current.name} hold the same runs: there is nothing to compare"
        )
    ratios = question.relative is True
    against = list(refusals(baseline, current, relative=ratios))
    if against and not question.accept_differences:
        relative = not ratios and not any(refusals(baseline, current, relative=True))
        raise HeapwrightError(against[0], _way_out(relative=relative))
    notes = [*against, *differences(baseline, current, relative=ratios)]
    notes += _only_in_one(baseline, current)
    # Counts do not depend on the occasion, so nothing has to be taken out of them.
    ratios_asked = False if baseline.is_exact and question.relative is None else question.relative
    sides = Sides.of(baseline, current, ratios_asked, question.treatments)
    gate = _judged(sides, _pairs(sides, question), question)
    return gate.model_copy(update={"notes": (*notes, *gate.notes)})


def judge_within(document: Document, question: Question) -> Gate:
    """The answer of one document: each treatment against its reference, block by block."""
    sides = Sides.within(document)
    return _judged(sides, _pairs(sides, question), question)


def _judged(sides: Sides, pairs: list[Pair], question: Question) -> Gate:
    broken = list(_broken(sides, question))
    if not pairs and not broken:
        raise HeapwrightError(
            "nothing can be compared: no treatment has good runs on both sides",
            "a document is compared with another one; or it has two treatments, of which one is "
            "the baseline",
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    level = 1 - 2 * (1 - question.confidence) / max(len(pairs), 1)
    found = [_shift(sides, pair, question.margin, level) for pair in pairs]
    moved = list(_moved(sides, pairs, question.margin, level))
    found = [_doubted(shift, sides, moved, question.treatments) for shift in found]
    shifts = sorted([*broken, *found], key=_gravity)
    return Gate(
        heapwright_version=__version__,
        verdict=shifts[0].change,
        sentence=sentence(shifts, question.margin, moved),
        baseline=sides.baseline.name,
        current=sides.current.name,
        margin=question.margin,
        confidence=question.confidence,
        level=level,
        relative=any(shift.relative_to for shift in shifts),
        shifts=tuple(shifts),
        notes=(
            *_failed_before(sides),
            *_stopped(sides, pairs),
            *_next_steps(sides, shifts),
            *_drift(sides, pairs),
            *_common_shift(moved),
        ),
    )


def _way_out(*, relative: bool) -> str:
    lines = ["--relative compares ratios to each document's baseline"] if relative else []
    return "\n".join([*lines, "--accept-differences compares anyway, and reports them"])


def _pairs(sides: Sides, question: Question) -> list[Pair]:
    """(treatment, response) with figures in both; HeapwrightError for a name that is in neither."""
    baseline, current = sides.baseline, sides.current
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
    wanted = filter(sides.is_judged, question.treatments or baseline.identities)
    pairs = [
        (treatment, response)
        for treatment in dict.fromkeys(wanted)
        for response in dict.fromkeys(responses)
    ]
    return [pair for pair in pairs if all(len(sample) for sample in sides.samples(pair))]


def _difference(sides: Sides, pair: Pair) -> Difference | SequentialDifference:
    first, second = sides.samples(pair)
    if sides.is_sequential(pair[0]):
        before = None if sides.alone else Side(first, sides.baseline.raced)
        return SequentialDifference(before, Side(second, sides.current.raced))
    return Difference(Sample.of(first), Sample.of(second))


def _shift(sides: Sides, pair: Pair, margin: float, level: float) -> Shift:
    difference = _difference(sides, pair)
    figure = sides.current.figures[pair[1]]
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
        relative_to=sides.reference(pair[0]),
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


def _broken(sides: Sides, question: Question) -> Iterator[Shift]:
    """Treatments that were sound and no longer are; within one document: whose reference is."""
    baseline, current = sides.baseline, sides.current
    for treatment, how in current.failures.items():
        before = current.references[treatment] if sides.alone else treatment
        asked = not question.treatments or treatment in question.treatments
        if asked and before in baseline.identities and before not in baseline.failures:
            yield Shift(
                treatment=treatment,
                response="outcome",
                change=Change.BROKEN,
                runs=(0, 0),
                words=f"no longer always ends well: {how}",
            )


def _failed_before(sides: Sides) -> Iterator[str]:
    baseline, current = sides.baseline, sides.current
    if sides.alone:
        return
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


def _stopped(sides: Sides, pairs: list[Pair]) -> Iterator[str]:
    """What a race means for the intervals."""
    names = dict.fromkeys(each.name for each in (sides.baseline, sides.current) if each.raced)
    if not names or not pairs:
        return
    are = f"{' and '.join(names)} {'is a race' if len(names) == 1 else 'are races'}"
    if any(sides.is_sequential(treatment) for treatment, _ in pairs):
        yield (
            f"{are}, which its results ended: the intervals allow for this and are wider than "
            "those of a fixed number of blocks (compare -n N)"
        )
    if not all(sides.is_sequential(treatment) for treatment, _ in pairs):
        yield (
            f"{are}, which its results ended. The intervals of figures that are no ratios do not "
            "allow for this. To judge them, measure a fixed number of blocks (compare -n N)"
        )


def _next_steps(sides: Sides, shifts: Sequence[Shift]) -> Iterator[str]:
    """What to do if the runs do not decide."""
    undecided = [shift for shift in shifts if shift.change is Change.UNDECIDED]
    for common in dict.fromkeys(shift.doubted_by for shift in undecided if shift.doubted_by):
        yield f"to decide: judge {common} itself with --absolute -a {shlex.quote(common)}."
    undecided = [shift for shift in undecided if not shift.doubted_by]
    if not undecided:
        return
    kind = sides.current.kind
    count = " Or count instead of timing: compare --exact, then gate --exact"
    if any(shift.more_blocks is None for shift in undecided):
        counting = count if kind == COMPARISON else ""
        yield f"to decide: judge with a smaller or a larger --margin.{counting}"
        return
    total = max(min(shift.runs) + (shift.more_blocks or 0) for shift in undecided)
    again = "measure again" if sides.alone else "measure both again"
    if kind == STUDY:
        yield f"to decide: {again} with {total} blocks in the [design] of the study"
    else:
        yield f"to decide: {again} with -n {total}.{count if kind == COMPARISON else ''}"


def _drift(sides: Sides, pairs: list[Pair]) -> Iterator[str]:
    for pair in pairs:
        documents = (sides.baseline, sides.current)
        for document, values in zip(documents, sides.samples(pair), strict=True):
            sample = Sample.of(values)
            if sample.thinning < THIN:
                yield (
                    f"{pair[1]} of {pair[0]} drifts through {document.name}: its {sample.count} "
                    f"blocks count as {sample.effective:.0f}"
                )


def _moved(sides: Sides, pairs: list[Pair], margin: float, level: float) -> Iterator[Shift]:
    """The own figures of baselines that both documents share and that surely changed."""
    absolute = sides.absolute()
    for reference, response in dict.fromkeys(
        (reference, pair[1]) for pair in pairs for reference in sides.shared(pair[0])
    ):
        pair = (reference, response)
        if all(len(sample) for sample in absolute.samples(pair)):
            shift = _shift(absolute, pair, margin, level)
            if (shift.low or 0) > 1 or (shift.high or math.inf) < 1:
                yield shift


def _doubted(shift: Shift, sides: Sides, moved: list[Shift], named: tuple[str, ...]) -> Shift:
    """A worse figure is undecided where the common baseline moved the same way.

    The baseline itself is judged if the caller named it.
    """
    if shift.relative_to or not shift.change.is_worse or not shift.ratio:
        return shift
    for common in moved:
        own = common.treatment == shift.treatment
        if (
            common.treatment in sides.shared(shift.treatment)
            and common.response == shift.response
            and ((common.ratio or 1) > 1) == (shift.ratio > 1)
            and not (own and shift.treatment in named)
        ):
            why = "but it is" if own else f"and {common.treatment} moved as well,"
            words = f"{shift.words}, {why} the common baseline"
            return shift.model_copy(
                update={
                    "change": Change.UNDECIDED,
                    "words": words,
                    "doubted_by": common.treatment,
                }
            )
    return shift


def _common_shift(moved: list[Shift]) -> Iterator[str]:
    """A baseline that is itself unchanged and yet moves shows a change of the machine or the
    program.
    """
    for shift in moved:
        yield (
            f"{shift.response} of {shift.treatment}, the baseline of both documents, is itself "
            f"{change_text(shift.ratio)}: the machine or the program changed"
        )
    if moved:
        yield (
            "to compare two libraries in the same blocks: heapwright compare --baseline old -a "
            "old=OLD.so,new=NEW.so --json both.json -- COMMAND; then heapwright gate both.json"
        )
