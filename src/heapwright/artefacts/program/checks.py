# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What one field of a program file cannot tell alone: names that are bound, choices that are one.

Each check yields what is wrong, with the path in the file to where it is.
"""

import re
from collections.abc import Iterator

from heapwright.artefacts.program.model import (
    Program,
    ProgramCheck,
    ProgramData,
    ProgramResponse,
    ProgramServer,
    Step,
)
from heapwright.artefacts.study.template import TemplateError, places
from heapwright.base.problems import Keys, Problem, unknown_name

NAME = re.compile(r"[a-z][a-z0-9_]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SIZE = re.compile(r"[0-9]+(\.[0-9]+)?[KMGT]?")
PORT = "port"
RUN = "run"
ALWAYS = ("data", "folder", "native", "python", "user", "cpus")
"""What templates can name besides parameters. `run` and `port` cannot be named in the data, which
outlives them. While data is made, they stand for the values of that time.
"""
RESERVED = {*ALWAYS, RUN, PORT, "time", "memory", "cpu"}


def check_program(program: Program) -> Iterator[Problem]:
    """Everything that is wrong with a program whose fields are right one by one."""
    for name in program.parameters:
        if name != PORT and (NAME.fullmatch(name) is None or name in RESERVED):
            why = "is reserved by heapwright" if name in RESERVED else "is no name of a parameter"
            text = f"{name!r} {why}; write small letters, digits and _"
            yield Problem(("parameters", name), text)
    yield from _templates(program)
    yield from _variables(program)
    for keys, server in servers(program):
        yield from _ready(keys, server)
    if program.data is not None:
        yield from _data(program)
    elif program.fresh:
        yield Problem(("fresh",), "there is no [data] of which each run could have a copy")
    for name, response in program.responses.items():
        yield from _response(program, name, response)
    for place, check in enumerate(program.checks):
        yield from _check(program, ("check", place), check)


def servers(program: Program) -> Iterator[tuple[Keys, ProgramServer]]:
    """The servers of a program, and where they are in its file."""
    if program.server is not None:
        yield ("server",), program.server
    if program.data is not None and program.data.server is not None:
        yield ("data", "server"), program.data.server


def templates(program: Program) -> Iterator[tuple[Keys, str]]:
    """Every text of a program that is filled in, and where it is."""
    yield from _of_step(("command",), program.command)
    for key, text in (("stdin", program.stdin), ("cwd", program.cwd)):
        if text is not None:
            yield (key,), text
    if isinstance(program.client_threads, str):
        yield ("client_threads",), program.client_threads
    for key, words in (("needs", program.needs), ("fresh", program.fresh)):
        yield from _of_step((key,), words)
    yield from _of_steps(("before",), program.before)
    yield from ((("environment", name), text) for name, text in program.environment.items())
    if program.data is not None:
        yield from _of_data(program.data)
    for keys, server in servers(program):
        yield from _of_server(keys, server)
    for place, check in enumerate(program.checks):
        yield from _of_check(("check", place), check)


def _of_check(here: Keys, check: ProgramCheck) -> Iterator[tuple[Keys, str]]:
    for key, text in (("same_as", check.same_as), ("file", check.file)):
        if text is not None:
            yield (*here, key), text
    if check.command is not None:
        yield from _of_step((*here, "command"), check.command)


def _of_data(data: ProgramData) -> Iterator[tuple[Keys, str]]:
    yield from _of_steps(("data", "commands"), data.commands)
    yield from _of_steps(("data", "made_by"), data.made_by)
    yield from _of_step(("data", "files"), data.files)
    if data.size:
        yield ("data", "size"), data.size


def _of_server(here: Keys, server: ProgramServer) -> Iterator[tuple[Keys, str]]:
    yield from _of_step((*here, "command"), server.command)
    yield from _of_step((*here, "stop"), server.stop)
    yield from _of_steps((*here, "load"), server.load)
    if server.log:
        yield (*here, "log"), server.log
    ready = server.ready
    yield from _of_step((*here, "ready", "command"), ready.command)
    for key, value in (("port", ready.port), ("socket", ready.socket), ("path", ready.path)):
        if isinstance(value, str):
            yield (*here, "ready", key), value


def _of_step(here: Keys, step: Step) -> Iterator[tuple[Keys, str]]:
    if isinstance(step, str):
        yield here, step
    else:
        yield from (((*here, place), word) for place, word in enumerate(step))


def _of_steps(here: Keys, steps: tuple[Step, ...]) -> Iterator[tuple[Keys, str]]:
    for place, step in enumerate(steps):
        yield from _of_step((*here, place), step)


def _templates(program: Program) -> Iterator[Problem]:
    known = {*program.parameters, *ALWAYS, RUN, PORT}
    used: set[str] = set()
    for keys, template in templates(program):
        if "\0" in template:
            yield Problem(keys, "a zero byte cannot be handed to a program")
        try:
            found = list(places(template))
        except TemplateError as error:
            yield Problem(keys, str(error))
            continue
        for place in found:
            used.add(place.text)
            if place.text not in known:
                text = f"{{{place.text}}} is not bound: there is no parameter {place.text!r}"
                yield unknown_name(keys, text, place.text, sorted(known))
            elif place.text == "data" and program.data is None:
                yield Problem(keys, "{data} is not bound: there is no [data]")
    for name in program.parameters:
        if name not in used:
            yield Problem(("parameters", name), f"nothing depends on {name}")


def _variables(program: Program) -> Iterator[Problem]:
    for name in program.environment:
        if VARIABLE.fullmatch(name) is None:
            yield Problem(("environment", name), f"{name!r} is no name of a variable")
        if name == "LD_PRELOAD":
            yield Problem(("environment", name), "LD_PRELOAD is how allocators are chosen")


def _ready(here: Keys, server: ProgramServer) -> Iterator[Problem]:
    ready = server.ready
    ways = [ready.command or None, ready.port, ready.socket, ready.path]
    if sum(way is not None for way in ways) != 1:
        yield Problem((*here, "ready"), "give one of command, port, socket and path")


def _data(program: Program) -> Iterator[Problem]:
    data = program.data
    assert data is not None
    if not data.commands and data.server is None:
        yield Problem(("data",), "nothing makes it: give commands, or a server")
    if data.size and "{" not in data.size and SIZE.fullmatch(data.size) is None:
        yield Problem(("data", "size"), f"{data.size!r} is no size; write 200M")
    for place, name in enumerate(program.fresh):
        if name.startswith("/") or ".." in name.split("/"):
            yield Problem(("fresh", place), "a part of {data} is named by its path in it")


def _response(program: Program, name: str, response: ProgramResponse) -> Iterator[Problem]:
    here: Keys = ("responses", name)
    for key, called in ((name, name), ("inverse", response.inverse)):
        where = here if key == name else (*here, "inverse")
        if called and (NAME.fullmatch(called) is None or called in RESERVED):
            why = "is reserved by heapwright" if called in RESERVED else "is no name of a response"
            yield Problem(where, f"{called!r} {why}; write small letters, digits and _")
    if (response.better == "higher") != bool(response.inverse):
        text = (
            "more is better, and comparisons compare what is better if it is less: name its inverse"
            if response.better == "higher"
            else 'inverse is for a response of which better = "higher"'
        )
        yield Problem((*here, "better" if response.better == "higher" else "inverse"), text)
    if response.inverse in program.responses:
        yield Problem((*here, "inverse"), f"{response.inverse!r} is a response as well")
    given = [
        key
        for key, value in (
            ("pattern", response.pattern),
            ("json", response.json_path),
            ("last_number", response.last_number),
        )
        if value is not None
    ]
    if len(given) != 1:
        text = "a response has one of pattern, json and last_number"
        yield Problem((*here, given[-1]) if given else here, text)
    if response.pattern is not None:
        yield from _pattern(program, (*here, "pattern"), response.pattern, value=True)
    yield from _stream(program, here, response.stream)


def _check(program: Program, here: Keys, check: ProgramCheck) -> Iterator[Problem]:
    ways = ("pattern", "without", "same_as", "command")
    given = [key for key in ways if getattr(check, key) is not None]
    if len(given) != 1:
        yield Problem(
            (*here, given[-1]) if given else here, f"a check has one of {', '.join(ways)}"
        )
    for key in ("pattern", "without"):
        text = getattr(check, key)
        if text is not None:
            yield from _pattern(program, (*here, key), text, value=False)
    if check.command is not None and (check.file is not None or check.stream != "stdout"):
        yield Problem((*here, "command"), "a command looks at what it likes; leave out what for")
    yield from _stream(program, here, check.stream)


def _stream(program: Program, here: Keys, stream: str) -> Iterator[Problem]:
    if stream == "log" and program.server is None:
        yield Problem((*here, "stream"), "log is a server's, and there is none")


def _pattern(program: Program, here: Keys, pattern: str, *, value: bool) -> Iterator[Problem]:
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        yield Problem(here, f"the regular expression cannot be read: {error}")
        return
    if value and "value" not in groups:
        yield Problem(here, "the regular expression has no group called value: (?P<value>…)")
    for name in re.findall(r"(?<!\\)\{([a-z][a-z0-9_]*)\}", pattern):
        if name in {*program.parameters, *ALWAYS, RUN, PORT}:
            why = "a pattern is a regular expression and no template"
            yield Problem(here, f"{{{name}}} has no value here: {why}; write what fits it, as \\S+")
