# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What one field of a study cannot tell alone: names that are bound, levels that make sense.

Each check yields what is wrong, with the path in the file to where it is; `artefacts.study.file`
turns that into a line. A study that passes can be designed on any machine that has what it names.
"""

import keyword
import re
from collections import Counter
from collections.abc import Iterator

from heapwright.artefacts.profile.figures import why_not
from heapwright.artefacts.run.replay import TOUCH, Surroundings, shows_memory
from heapwright.artefacts.run.replay_responses import OF_MEMORY, why_no_figure
from heapwright.artefacts.study.condition import ConditionError, parse_condition
from heapwright.artefacts.study.factor import ALLOCATOR, CPUS, Factor, Level, LevelTable
from heapwright.artefacts.study.model import PARSED, Response, Study
from heapwright.artefacts.study.question_checks import check_questions
from heapwright.artefacts.study.template import BLOCK, PLACES
from heapwright.artefacts.study.template_checks import ZERO, check_templates
from heapwright.artefacts.study_results.runs import OWN_COLUMNS
from heapwright.base.problems import Keys, Problem, unknown_name

NAME = re.compile(r"[a-z][a-z0-9_]*")
KEY = re.compile(r"[A-Za-z_]\w*", re.ASCII)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = {*OWN_COLUMNS, *PLACES, BLOCK, "command", "report", "true", "false", *keyword.kwlist}
COUNTING = ("counter", "callgrind", "cachegrind")
COUNTERS = ("instructions", "cycles", "cache-misses", "branch-misses")
OF_PROGRAM = ("program", "profile")
EXAMPLES = {"profile": "totals.allocations", "replay": "routines.malloc.mean_ns"}
"""Origins of responses that name a figure, with one figure each."""
LONGEST_NAME = 100
SCALE = re.compile(r"[a-z][a-z0-9-]*")
MOST_CPUS = 100_000


def check_study(study: Study, whole: Study | None = None) -> Iterator[Problem]:
    """Everything that is wrong with a study whose fields are right one by one.

    `whole` is the study without its scale: findings may name levels that only the whole has.
    """
    yield from _what_is_run(study)
    yield from _roles(study)
    for name, factor in study.factors.items():
        yield from _factor(study, name, factor)
    yield from check_templates(study)
    yield from _constraints(study)
    yield from _design(study)
    for name, response in study.responses.items():
        yield from _response(study, name, response)
    yield from _analysis(study)
    yield from _environment(("environment",), study.environment)
    yield from check_questions(study, whole or study)
    for scale in study.scale:
        if SCALE.fullmatch(scale) is None:
            yield Problem(("scale", scale), f"{scale!r} is no name of a scale; write it as small")


def _what_is_run(study: Study) -> Iterator[Problem]:
    ways = {
        "command": study.command,
        "workload": study.workload,
        "trace": study.trace,
        "program": study.program,
    }
    given = [name for name, value in ways.items() if value]
    if not given:
        yield Problem(
            (), "there is nothing to run: give a command, a workload, a trace or a program"
        )
    if len(given) > 1:
        yield Problem((given[1],), f"{given[0]} and {given[1]} are both there: give one of them")
    if study.arguments and not study.workload:
        yield Problem(("arguments",), "arguments are for a workload; put them into the command")
    yield from _replayed(study)
    yield from _program(study)
    server = study.hooks.server
    if server is not None:
        ready = server.ready
        ways_ready = [ready.command or None, ready.port, ready.socket, ready.path]
        if sum(way is not None for way in ways_ready) != 1:
            yield Problem(
                ("hooks", "server", "ready"), "give one of command, port, socket and path"
            )


def _replayed(study: Study) -> Iterator[Problem]:
    """What only a trace has, and what a replay does not measure."""
    if study.touch is not None and study.trace is None:
        yield Problem(("touch",), "touch is for a trace that is replayed")
    if study.touch is not None and not shows_memory(study.touch):
        for name, response in study.responses.items():
            of_memory = response.origin == "replay" and response.figure in OF_MEMORY
            if response.origin == "peak_rss" or of_memory:
                yield Problem(
                    ("responses", name, "figure" if of_memory else "from"),
                    f'a replay with touch = "{study.touch}" does not write into its memory, so it '
                    "has no peak; leave touch out",
                )
    surroundings = Surroundings(gaps=study.gaps, visits=study.visits)
    if surroundings != Surroundings() and study.trace is None:
        yield Problem(("gaps" if study.gaps != "none" else "visits",), "it is for a trace")
    elif why := surroundings.problem(study.touch or TOUCH):
        yield Problem(("visits",), why)
    if study.process is not None and study.trace is None:
        yield Problem(("process",), "process is for a trace that is replayed")
    for name, response in study.responses.items():
        if response.origin == "replay" and study.trace is None:
            yield Problem(("responses", name, "from"), "there is no trace that is replayed")


def _program(study: Study) -> Iterator[Problem]:
    """What a program's file says the study's does not; what only a program has."""
    if study.program is None:
        for key in ("parameters", "program_scale"):
            if getattr(study, key):
                yield Problem((key,), f"{key} is for a program, and there is none")
        for name, response in study.responses.items():
            if response.origin in OF_PROGRAM:
                yield Problem(("responses", name, "from"), "there is no program to read it from")
        return
    said = {
        "stdin": study.stdin is not None,
        "cwd": study.cwd is not None,
        "expect_exit": study.expect_exit != 0,
        "measure": study.measure is not None,
        "hooks": study.hooks.server is not None,
    }
    for key, given in said.items():
        if given:
            yield Problem((key,), f"{'a server' if key == 'hooks' else key} is the program's own")


def _roles(study: Study) -> Iterator[Problem]:
    for role in (ALLOCATOR, CPUS):
        names = [name for name in study.factors if study.role(name) == role]
        if len(names) > 1:
            yield Problem(
                ("factors", names[1], "role"),
                f"{names[0]} and {names[1]} both have the role {role}; one factor has it at most",
            )


def _factor(study: Study, name: str, factor: Factor) -> Iterator[Problem]:
    here: Keys = ("factors", name)
    if NAME.fullmatch(name) is None or name in RESERVED:
        why = "is reserved by heapwright" if name in RESERVED else "is no name of a factor"
        yield Problem(here, f"{name!r} {why}; write small letters, digits and _")
    for level, times in Counter(factor.names).items():
        if times > 1:
            place = len(factor.names) - 1 - factor.names[::-1].index(level)
            yield Problem((*here, "levels", place), f"level {level!r} is there {times} times")
    for place, level_item in enumerate(factor.items):
        yield from _level((*here, "levels", place), study.role(name), factor, level_item)
    base = factor.baseline_name
    if base is not None and base not in factor.names:
        yield unknown_name((*here, "baseline"), f"no level {base!r} in {name}", base, factor.names)
    if factor.variable is not None:
        yield from _variable((*here, "variable"), factor.variable)


def _level(here: Keys, role: str, factor: Factor, level: Level) -> Iterator[Problem]:
    written = factor.levels[int(here[-1])]
    if not level.name.strip() or len(level.name) > LONGEST_NAME or not level.name.isprintable():
        yield Problem(here, f"a level has a name of 1 to {LONGEST_NAME} printable characters")
    if role == CPUS and not (
        level.number is not None and level.number.is_integer() and 1 <= level.number <= MOST_CPUS
    ):
        yield Problem(here, f"{level.name!r} is no number of processors")
    if factor.quantitative and level.number is None:
        yield Problem(here, f"level {level.name!r} is no quantity; give its table a value")
    if isinstance(written, LevelTable):
        yield from _level_table(here, role, written, level)


def _level_table(here: Keys, role: str, written: LevelTable, level: Level) -> Iterator[Problem]:
    yield from _environment((*here, "set"), written.set)
    for key, value in level.keys.items():
        if KEY.fullmatch(key) is None:
            yield Problem((*here, key), f"{key!r} is no name; write letters, digits and _")
        if "\0" in str(value):
            yield Problem((*here, key), ZERO)
    if role != ALLOCATOR:
        for key in ("allocator", "preload", "missing"):
            if key in written.model_fields_set:
                yield Problem((*here, key), f"{key} is for levels of the factor of allocators")


def _environment(here: Keys, variables: dict[str, str]) -> Iterator[Problem]:
    for name in variables:
        yield from _variable((*here, name), name)


def _variable(here: Keys, name: str) -> Iterator[Problem]:
    if VARIABLE.fullmatch(name) is None:
        yield Problem(here, f"{name!r} is no name of a variable")
    if name == "LD_PRELOAD":
        yield Problem(here, "LD_PRELOAD is how allocators are chosen; make it a level: a path")


def _constraints(study: Study) -> Iterator[Problem]:
    for place, constraint in enumerate(study.constraints):
        here: Keys = ("constraints", place, "require")
        try:
            condition = parse_condition(constraint.require)
        except ConditionError as error:
            yield Problem(here, str(error))
            continue
        for name in condition.names:
            if name.factor not in study.factors:
                yield unknown_name(here, f"no factor {name.factor!r}", name.factor, study.factors)
            elif name.key not in ("", "name"):
                for level in study.factors[name.factor].items:
                    if name.key not in level.keys:
                        yield Problem(
                            here, f"level {level.name!r} of {name.factor} has no {name.key!r}"
                        )
                        break


def _design(study: Study) -> Iterator[Problem]:
    design = study.design
    given = [key for key in ("share", "defining") if getattr(design, key)]
    if design.kind == "full":
        for key in given:
            yield Problem(("design", key), f'{key} is for kind = "fraction"')
    elif len(given) != 1:
        what = "share and defining are both there" if given else "the fraction has no size"
        yield Problem(
            ("design", given[-1] if given else "kind"), f"{what}: give one of share and defining"
        )
    if design.discard >= design.blocks:
        yield Problem(
            ("design", "discard"),
            f"{design.discard} of {design.blocks} blocks are discarded: none is left to analyse",
        )


def _response(study: Study, name: str, response: Response) -> Iterator[Problem]:
    here: Keys = ("responses", name)
    if NAME.fullmatch(name) is None or name in RESERVED:
        yield Problem(here, f"{name!r} is no name of a response; write small letters, digits and _")
    if name in study.factors:
        yield Problem(here, f"{name!r} is a factor as well; give the response another name")
    readers = {
        "pattern": response.pattern,
        "json": response.json_path,
        "last_number": response.last_number,
    }
    given = [key for key, value in readers.items() if value is not None]
    if response.origin in PARSED:
        if len(given) != 1:
            yield Problem(
                (*here, given[-1] if given else "from"),
                f"a response from {response.origin} has one of pattern, json and last_number",
            )
    elif given:
        yield Problem(
            (*here, given[0]),
            f'{given[0]} is for a response from "output" or "measure", not "{response.origin}"',
        )
    if response.pattern is not None:
        yield from _pattern((*here, "pattern"), response.pattern)
    if response.origin == "measure" and study.measure is None:
        yield Problem((*here, "from"), "there is no [measure] with a command that measures")
    if response.event is not None and response.origin not in COUNTING:
        yield Problem((*here, "event"), f"event is for a response from {', '.join(COUNTING)}")
    yield from _figure((*here, "figure"), response)
    if response.origin == "counter" and response.event not in (None, *COUNTERS):
        text = f"no counter {response.event!r}"
        yield unknown_name((*here, "event"), text, str(response.event), COUNTERS)


def _figure(here: Keys, response: Response) -> Iterator[Problem]:
    if response.origin not in EXAMPLES:
        if response.figure is not None:
            yield Problem(here, f"figure is for a response from {' or '.join(EXAMPLES)}")
        return
    why = f"say which figure: as {EXAMPLES[response.origin]}"
    if response.figure is not None:
        check = why_not if response.origin == "profile" else why_no_figure
        why = check(response.figure)
    if why:
        yield Problem(here, why)


def _pattern(here: Keys, pattern: str) -> Iterator[Problem]:
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        yield Problem(here, f"the regular expression cannot be read: {error}")
        return
    if "value" not in groups:
        yield Problem(here, "the regular expression has no group called value: (?P<value>…)")


def _analysis(study: Study) -> Iterator[Problem]:
    for kind, lists in (
        ("interactions", study.analysis.interactions),
        ("facets", study.analysis.facets),
    ):
        for place, names in enumerate(lists):
            here: Keys = ("analysis", kind, place)
            for at, name in enumerate(names):
                if name not in study.factors:
                    text = f"no factor {name!r}"
                    yield unknown_name((*here, at), text, name, study.factors)
            if len(set(names)) != len(names):
                yield Problem(here, f"a factor is named twice: {', '.join(names)}")
    for place, growth in enumerate(study.analysis.scaling):
        here = ("analysis", "scaling", place)
        if growth.response not in study.responses:
            text = f"no response {growth.response!r}"
            yield unknown_name((*here, "response"), text, growth.response, study.responses)
        if growth.by not in study.factors:
            text = f"no factor {growth.by!r}"
            yield unknown_name((*here, "by"), text, growth.by, study.factors)
        elif not study.factors[growth.by].is_quantitative:
            yield Problem((*here, "by"), f"the levels of {growth.by} are no quantities")
