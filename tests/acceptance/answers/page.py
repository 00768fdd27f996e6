# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The results as they are kept, a line for each case, and the page that shows them. Pure."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from .answer import Answer
from .cases import Case
from .judge import Judgement, Verdict

KINDS = ("leak", "growth", "retention", "elsewhere")
NOT_JUDGED = "-"
Results = Sequence["Result"]


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the kept results."""

    case: str
    truth: str
    answer: str
    verdict: str
    culprit: str
    rate: str
    why: str


def named(kinds: Iterable[str] | None) -> str:
    """Kinds as one word."""
    if kinds is None:
        return Verdict.CANNOT_TELL
    order = sorted(kinds, key=lambda each: KINDS.index(each.split()[0]))
    return " + ".join(order) or "steady"


def result_of(case: Case, answer: Answer, judged: Judgement) -> Result:
    def word(right: bool | None) -> str:
        return NOT_JUDGED if right is None else "right" if right else "wrong"

    undecided = judged.verdict is Verdict.CANNOT_TELL
    return Result(
        case=case.name,
        truth=named(case.truth) + (", unseen" if case.blind else ""),
        answer=judged.verdict if undecided else named(answer.kinds),
        verdict=judged.verdict,
        culprit=word(judged.culprit),
        rate=word(judged.rate),
        why=judged.why,
    )


def as_csv(results: Results) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [each.name for each in fields(Result)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(each) for each in results)
    return text.getvalue()


def from_csv(text: str) -> tuple[Result, ...]:
    return tuple(Result(**row) for row in csv.DictReader(io.StringIO(text)))


def confusion(results: Results) -> str:
    """The matrix of truth and answer, each cell with its number of cases."""
    cells = Counter((each.truth, each.answer) for each in results)
    truths = list(dict.fromkeys(each.truth for each in results))
    answers = sorted({each.answer for each in results}, key=_order)
    totals = {truth: [each for each in results if each.truth == truth] for truth in truths}
    rows = [
        [
            truth,
            str(len(totals[truth])),
            *(str(cells[truth, answer] or "") for answer in answers),
            str(sum(each.verdict == Verdict.RIGHT for each in totals[truth])),
            str(sum(each.culprit == "wrong" for each in totals[truth])),
        ]
        for truth in truths
    ]
    heads = ["truth", "programs", *(f"answer: {each}" for each in answers)]
    return table([*heads, "right", "of these wrong culprit"], rows)


def _order(answer: str) -> tuple[int, str]:
    words = [*KINDS, "steady", Verdict.CANNOT_TELL]
    return (words.index(answer) if answer in words else len(KINDS) - 1, answer)


def counts(results: Results) -> dict[str, int]:
    """How many answers are what."""
    verdicts = Counter(each.verdict for each in results)
    return {
        "programs": len(results),
        **{verdict: verdicts[verdict] for verdict in Verdict},
        "wrong culprit": sum(each.culprit == "wrong" for each in results),
        "wrong rate": sum(each.rate == "wrong" for each in results),
    }


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(words: Sequence[str]) -> str:
        return f"| {' | '.join(word.replace('|', chr(92) + '|') for word in words)} |"

    return "\n".join([line(heads), "|" + "---|" * len(heads), *map(line, rows)])


def page(cases: Sequence[Case], versions: Mapping[str, Results]) -> str:
    """The whole page. The last of `versions` is the one that the cases are listed for."""
    latest = list(versions)[-1]
    what = {each.name: each.what for each in cases}
    listed = [
        [
            *(each.case, what[each.case], each.truth),
            *(each.answer, each.verdict, each.culprit, each.rate),
        ]
        for each in versions[latest]
    ]
    parts = [
        "# Answers of `heapwright explain` about programs with a known truth",
        "This page shows how often `heapwright explain` is right. Read it before you rely on an "
        "answer.",
        "```sh\npython -m tests.acceptance.answers docs/results/explain/answers.csv   "
        "# runs all programs\npython -m tests.acceptance.answers --page > "
        "docs/results/explain/README.md\n```",
        "Each program of the set runs for one to three seconds. "
        "[Its files](../../../tests/acceptance/answers/cases) state the truth about each. "
        "An answer is right if it finds all that is true of the program and nothing that is not. "
        "A few programs have a second statement that an answer may add or omit. The rules of "
        "`explain` were improved with this set, so its score is no measure for other programs. "
        "[The trials](../trial/README.md) are such a measure. "
        "`steady` means that there is nothing to find. `unseen` marks a program whose allocator "
        "no preloaded library replaces: there `cannot tell` is a right answer. The culprit is the "
        "function that the sentence names first. A rate is right within a factor of 1.5.",
        table(
            ["version", *counts(versions[latest])],
            [[name, *map(str, counts(each).values())] for name, each in versions.items()],
        ),
    ]
    for name, results in versions.items():
        parts += [f"## Truth and answer, {name}", confusion(results)]
    heads = ["program", "what it does", "truth", "answer", "verdict", "culprit", "rate"]
    parts += [f"## Each program, {latest}", table(heads, listed)]
    return "\n\n".join(parts) + "\n"
