# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the templates of a study: every name is bound, every factor changes something."""

from collections.abc import Iterator

from heapwright.artefacts.study.factor import PARAMETER
from heapwright.artefacts.study.model import Study
from heapwright.artefacts.study.template import BLOCK, PLACES, Place, TemplateError, places
from heapwright.base.problems import Keys, Problem, unknown_name

COMMAND, REPORT = "command", "report"
OWN_PLACES = {"measure": (COMMAND, REPORT), "command": (BLOCK,), "arguments": (BLOCK,)}
"""Keys with names that are filled in when a run is made."""
FOR = {
    **dict.fromkeys((COMMAND, REPORT), "the command of [measure]"),
    BLOCK: "command and arguments",
}
ZERO = "a zero byte cannot be handed to a program"


def templates(study: Study) -> Iterator[tuple[Keys, str]]:
    """Every text of the study that is filled in for a treatment, and where it is."""
    for key, words in (
        ("command", study.command),
        ("arguments", study.arguments),
        ("prefix", study.prefix),
    ):
        yield from (((key, place), word) for place, word in enumerate(words))
    for key, text in (
        ("workload", study.workload),
        ("trace", study.trace),
        ("program", study.program),
        ("stdin", study.stdin),
        ("cwd", study.cwd),
    ):
        if text is not None:
            yield (key,), text
    yield from ((("environment", name), text) for name, text in study.environment.items())
    for name, value in study.parameters.items():
        if isinstance(value, str):
            yield ("parameters", name), value
    yield from _of_levels(study)
    yield from _of_hooks(study)
    if study.measure is not None:
        yield from _of_words(("measure", "command"), study.measure.command)


def _of_words(here: Keys, words: str | tuple[str, ...]) -> Iterator[tuple[Keys, str]]:
    if isinstance(words, str):
        yield here, words
    else:
        yield from (((*here, place), word) for place, word in enumerate(words))


def _of_levels(study: Study) -> Iterator[tuple[Keys, str]]:
    for name, factor in study.factors.items():
        for place, level in enumerate(factor.items):
            here: Keys = ("factors", name, "levels", place)
            yield from _of_words((*here, "prefix"), level.prefix)
            yield from _of_words((*here, "needs"), level.needs)
            yield from (((*here, "set", key), text) for key, text in level.environment.items())


def _of_hooks(study: Study) -> Iterator[tuple[Keys, str]]:
    hooks = study.hooks
    for key in ("before_allocator", "after_allocator", "before_run", "after_run"):
        hook = getattr(hooks, key)
        if hook is not None:
            yield from _of_words(("hooks", key), hook)
    if hooks.server is not None:
        here: Keys = ("hooks", "server")
        yield from _of_words((*here, "command"), hooks.server.command)
        ready = hooks.server.ready
        yield from _of_words((*here, "ready", "command"), ready.command)
        for key, text in (("socket", ready.socket), ("path", ready.path)):
            if text is not None:
                yield (*here, "ready", key), text


def check_templates(study: Study) -> Iterator[Problem]:
    """What is not bound; and if that is nothing, what is varied without any effect."""
    used: set[str] = set()
    problems: list[Problem] = []
    for keys, template in templates(study):
        own = OWN_PLACES.get(str(keys[0]), ())
        try:
            found = list(places(template))
        except TemplateError as error:
            problems.append(Problem(keys, str(error)))
            continue
        if "\0" in template:
            problems.append(Problem(keys, ZERO))
        for place in found:
            used.add(place.factor)
            if place.text not in own:
                problems += _place(study, keys, template, place)
    problems += _measure(study)
    yield from problems or _without_effect(study, used)


def _without_effect(study: Study, used: set[str]) -> Iterator[Problem]:
    for name, factor in study.factors.items():
        plain = study.role(name) == PARAMETER and factor.variable is None
        if plain and name not in used and not any(_acts(study, name)):
            passed_on = (
                f'; write parameters = {{ {name} = "{{{name}}}" }} to pass it to the program'
            )
            yield Problem(
                ("factors", name),
                f"nothing depends on {name}: no template has {{{name}}} in it, its levels set no "
                f"variable{passed_on if study.program else ''}",
            )


def _acts(study: Study, name: str) -> Iterator[bool]:
    """Whether levels do something by themselves."""
    for level in study.factors[name].items:
        yield bool(level.environment or level.prefix)


def _place(study: Study, keys: Keys, template: str, place: Place) -> Iterator[Problem]:
    known = study.factors
    if place.workload or place.text in PLACES:
        return
    if place.text in FOR:
        yield Problem(keys, f"{{{place.text}}} is for {FOR[place.text]}")
        return
    if not place.factor:
        yield Problem(keys, f"{{{place.text}}} in {template!r} names no workload")
        return
    if place.factor not in known:
        text = f"{{{place.text}}} is not bound: there is no factor {place.factor!r}"
        yield unknown_name(keys, text, place.factor, known)
        return
    if place.key in ("", "name"):
        return
    for level in known[place.factor].items:
        if place.key not in level.keys:
            text = f"{{{place.text}}} is not bound: level {level.name!r} of {place.factor} has no "
            yield unknown_name(keys, text + repr(place.key), place.key, level.keys)
            return


def _measure(study: Study) -> Iterator[Problem]:
    if study.measure is None:
        return
    here: Keys = ("measure", "command")
    if study.measure.command.count("{command}") != 1:
        yield Problem(here, "one word of it must be {command}, which is what it measures")
    elif any("{command}" in word and word != "{command}" for word in study.measure.command):
        yield Problem(here, "{command} must be a word of its own")
    if not any(response.origin == "measure" for response in study.responses.values()):
        yield Problem(("measure",), 'no response is read from it: give one from = "measure"')
