# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Checks what a study asks of its runs, `[[finding]]`, `[choice]`, `[care]`, `[bar]`: names are
its own.

Levels may be those of the whole study where a scale has fewer: a question about a level that was
not run gets that answer.
"""

from collections.abc import Iterator

from heapwright.artefacts.study.acceptance import Acceptance, AcceptanceLine
from heapwright.artefacts.study.finding import Growth
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study.sensitivity import Sensitivity
from heapwright.artefacts.study.substitution import Substitution
from heapwright.base.problems import Keys, Problem, unknown_name


def check_questions(study: Study, whole: Study) -> Iterator[Problem]:
    """`whole` is the study without its scale."""
    yield from _findings(study, whole)
    if study.choice is not None:
        yield from _choice(study, study.choice)
        yield from _choice_levels(study, study.choice, whole)
        yield from _about(study, study.choice)
    if study.care is not None:
        yield from _care(study, study.care)
    if study.bar is not None:
        yield from _bar(study, study.bar, whole)
        for place, line in enumerate(study.bar.lines):
            yield from _bar_line(study, study.bar, line, ("bar", "line", place), whole)


def _findings(study: Study, whole: Study) -> Iterator[Problem]:
    ids = [finding.id for finding in study.findings]
    for place, finding in enumerate(study.findings):
        here: Keys = ("finding", place)
        if ids.index(finding.id) < place:
            yield Problem((*here, "id"), f"there are two findings {finding.id!r}")
        for at, rule in enumerate(finding.test):
            inside: Keys = (*here, "test", at)
            if rule.response not in study.responses:
                text = f"no response {rule.response!r}"
                yield unknown_name((*inside, "response"), text, rule.response, study.responses)
            for name in dict.fromkeys(rule.factors()):
                if name not in study.factors:
                    yield unknown_name(inside, f"no factor {name!r}", name, study.factors)
            by = study.factors.get(rule.by) if isinstance(rule, Growth) else None
            if by is not None and not by.is_quantitative:
                yield Problem((*inside, "by"), "there is no exponent of a factor that is no number")
            for name, level in dict.fromkeys(rule.levels()):
                known = _known_levels(name, study, whole)
                if known and level not in known:
                    yield unknown_name(inside, f"no level {level!r} in {name}", level, known)


def _choice(study: Study, choice: Substitution) -> Iterator[Problem]:
    yield from _judged_by(study, choice, "choice")


def _care(study: Study, care: Sensitivity) -> Iterator[Problem]:
    yield from _judged_by(study, care, "care")
    for name in care.beside:
        if name not in study.responses:
            text = f"no response {name!r}"
            yield unknown_name(("care", "beside"), text, name, study.responses)
        elif name in care.responses:
            yield Problem(("care", "beside"), f"{name!r} is judged, so it is not beside")
    factor = study.factors.get(care.factor)
    if factor is not None and factor.baseline_name is None:
        text = f"{care.factor} has no baseline that its levels could be held against"
        yield Problem(("care", "factor"), text)


def _judged_by(study: Study, asked: Substitution | Sensitivity, key: str) -> Iterator[Problem]:
    """What is judged by the levels of one factor, in some responses."""
    here: Keys = (key,)
    for role, name in (("factor", asked.factor), ("by", asked.by)):
        if name not in study.factors:
            yield unknown_name((*here, role), f"no factor {name!r}", name, study.factors)
    if asked.factor == asked.by:
        yield Problem((*here, "by"), "`factor` and `by` are the same factor")
    for name in asked.responses:
        if name not in study.responses:
            text = f"no response {name!r}"
            yield unknown_name((*here, "responses"), text, name, study.responses)
        elif study.responses[name].better == "none":
            yield Problem((*here, "responses"), f"of {name!r} neither side is better")


def _choice_levels(study: Study, choice: Substitution, whole: Study) -> Iterator[Problem]:
    known = _known_levels(choice.factor, study, whole)
    rivals = (*choice.general, *choice.instead)
    named = [("general", each) for each in choice.general]
    named += [("also", each) for each in choice.also]
    named += [("instead", each) for each in choice.instead]
    for key, level in (("custom", choice.custom), *named):
        if known and level not in known:
            text = f"no level {level!r} in {choice.factor}"
            yield unknown_name(("choice", key), text, level, known)
    if choice.custom in (*rivals, *choice.also):
        yield Problem(("choice", "custom"), f"{choice.custom!r} is no rival of itself")
    if len({*rivals, *choice.also}) < len(rivals) + len(choice.also):
        yield Problem(("choice", "general"), "a rival is named twice")


def _about(study: Study, choice: Substitution) -> Iterator[Problem]:
    levels = study.factors[choice.by].items if choice.by in study.factors else ()
    for key in choice.about:
        for level in levels:
            if key not in level.keys:
                text = f"level {level.name!r} of {choice.by} has no {key!r}"
                yield unknown_name(("choice", "about"), text, key, level.keys)
                break


def _bar(study: Study, bar: Acceptance, whole: Study) -> Iterator[Problem]:
    for key, name in (("factor", bar.factor), ("by", bar.by)):
        if name is not None and name not in study.factors:
            yield unknown_name(("bar", key), f"no factor {name!r}", name, study.factors)
    if bar.factor == bar.by:
        yield Problem(("bar", "by"), "`factor` and `by` are the same factor")
    known = _known_levels(bar.factor, study, whole)
    for key, level in (("level", bar.level), *(("rivals", each) for each in bar.rivals)):
        if known and level not in known:
            text = f"no level {level!r} in {bar.factor}"
            yield unknown_name(("bar", key), text, level, known)
    if bar.level in bar.rivals:
        yield Problem(("bar", "rivals"), f"{bar.level!r} is no rival of itself")


def _bar_line(
    study: Study, bar: Acceptance, line: AcceptanceLine, here: Keys, whole: Study
) -> Iterator[Problem]:
    among = dict.fromkeys(bar.rivals) or _known_levels(bar.factor, study, whole)
    for level in line.against:
        if among and (level not in among or level == bar.level):
            yield unknown_name((*here, "against"), f"no rival {level!r}", level, among)
    yield from _bar_places(study, bar, line, here, whole)
    response = study.responses.get(line.response)
    if response is None:
        text = f"no response {line.response!r}"
        yield unknown_name((*here, "response"), text, line.response, study.responses)
    elif response.better != ("higher" if line.at_most is None else "lower"):
        words = "`at_most` is for what should be low, `at_least` for what should be high"
        yield Problem(here, words)


def _bar_places(
    study: Study, bar: Acceptance, line: AcceptanceLine, here: Keys, whole: Study
) -> Iterator[Problem]:
    for name in dict.fromkeys(line.factors()):
        if name == bar.factor:
            yield Problem(here, f"{name!r} is the factor of the bar itself")
        elif name not in study.factors:
            yield unknown_name(here, f"no factor {name!r}", name, study.factors)
    named = [("where", *each) for each in line.where.items()]
    named += [("but", *each) for each in line.but.items()]
    for key, name, levels in named:
        there = _known_levels(name, study, whole)
        for level in levels:
            if there and level not in there:
                yield unknown_name((*here, key), f"no level {level!r} in {name}", level, there)


def _known_levels(factor: str, *studies: Study) -> dict[str, None]:
    """The levels that a factor has at this scale or without one."""
    named = (each.factors[factor].names for each in studies if factor in each.factors)
    return dict.fromkeys(level for names in named for level in names)
