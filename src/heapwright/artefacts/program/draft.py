# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A first program file for a user's service: from its systemd unit, its image, its command.

The start of the service that a unit or an image states is taken over. The port that it listens on
becomes `{port}`, and its socket `{run}/socket`. So a run disturbs nothing, and nothing disturbs it.
Where a value cannot be derived, a comment in the file says what the user must decide. Pure
functions: systemd.service(5) and systemd.exec(5) for units, the image specification for images.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from heapwright.base.errors import HeapwrightError

PREFIXES = "@-:+!|"
"""What may stand before the program of an ExecStart."""
SPECIFIER = re.compile(r"(?<!%)%[a-zA-Z]")
UNTRANSLATED = ("User", "Group", "DynamicUser", "PrivateTmp", "RuntimeDirectory", "StateDirectory")
BEFORE = ("ExecStartPre", "EnvironmentFile")


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a service so far."""

    server: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    remarks: tuple[str, ...] = ()
    """Points that the user has to check."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user says of it."""

    name: str
    client: tuple[str, ...]
    port: int | None = None
    socket: str = ""
    ready: tuple[str, ...] = ()


def from_unit(text: str) -> Draft:
    """Read a systemd unit. Raises HeapwrightError if it starts nothing."""
    said: dict[str, list[str]] = {}
    section = ""
    for line in _logical_lines(text):
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line:
            key, _, value = line.partition("=")
            if not value.strip():
                said.pop(key.strip(), None)  # an empty one takes back those before it
            else:
                said.setdefault(key.strip(), []).append(value.strip())
    if "ExecStart" not in said:
        raise HeapwrightError("the unit has no [Service] with an ExecStart", "name its file")
    command = said["ExecStart"][-1].lstrip(PREFIXES)
    environment: dict[str, str] = {}
    for line in said.get("Environment", []):
        environment |= _pairs(shlex.split(line))
    remarks = [f"{key}={said[key][-1]}: see whether it needs this" for key in BEFORE if key in said]
    remarks += [
        f"{key}={said[key][-1]}: a run has you as its user, and its own folder"
        for key in UNTRANSLATED
        if key in said
    ]
    if said.get("Type", [""])[-1] == "forking":
        remarks.append("Type=forking: here it has to stay in the foreground; find its option")
    if SPECIFIER.search(command):
        remarks.append("ExecStart has specifiers of systemd (%i, %h): write what they stand for")
    if "$" in command:
        remarks.append("ExecStart has variables: no shell reads it here; write their values")
    cwd = said.get("WorkingDirectory", [""])[-1].lstrip("-")
    return Draft(tuple(_split(command)), environment, cwd, tuple(remarks))


def from_image(text: str) -> Draft:
    """Read what `docker inspect IMAGE` or `podman inspect IMAGE` prints. Raises HeapwrightError."""
    try:
        document = json.loads(text)
        config = (document[0] if isinstance(document, list) else document)["Config"]
        words = [*(config.get("Entrypoint") or ()), *(config.get("Cmd") or ())]
        environment = _pairs(config.get("Env") or ())
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise HeapwrightError(
            "this is not what `docker inspect IMAGE` prints", "docker inspect IMAGE >image.json"
        ) from error
    if not words or not all(isinstance(word, str) for word in words):
        raise HeapwrightError("the image has no command that it starts")
    environment.pop("PATH", None)
    remarks = ["the program has to be here, or heapwright in the container"]
    if ports := ", ".join(config.get("ExposedPorts") or ()):
        remarks.append(f"the image offers {ports}")
    return Draft(tuple(words), environment, str(config.get("WorkingDir") or ""), tuple(remarks))


def from_words(text: str) -> Draft:
    """A command line as a shell would split it."""
    return Draft(tuple(_split(text)))


def program_text(draft: Draft, wanted: Wanted) -> str:
    """The program file."""
    moved = _moved(draft, wanted)
    return "\n".join(_lines(moved, wanted)) + "\n"


def _lines(draft: Draft, wanted: Wanted) -> Iterator[str]:
    quoted = _words
    yield "# What heapwright is to know of a service: docs/reference/programs.md has every key."
    yield from (f"# To decide: {remark}" for remark in draft.remarks)
    yield "format = 1"
    yield f"name = {json.dumps(wanted.name)}"
    yield f"title = {json.dumps(f'{wanted.name}, under the load of {wanted.client[0]}')}"
    yield f"needs = {quoted([draft.server[0], wanted.client[0]])}"
    if draft.cwd:
        yield f"cwd = {quoted([draft.cwd])[1:-1]}"
    yield "# The client, which runs without the allocator; better so much work than so much time."
    yield f"command = {quoted(wanted.client)}"
    yield "client_threads = 1       # how many processors it can use at a time"
    yield "timeout_s = 600"
    if draft.environment:
        yield "\n[environment]"
        for name, text in draft.environment.items():
            yield f"{name} = {quoted([text])[1:-1]}"
    yield "\n[server]"
    yield f"command = {quoted(draft.server)}"
    yield f"ready = {_ready(wanted)}"
    yield "timeout_s = 60\n"
    yield "# What the client prints; `heapwright programs run FILE` shows what it read."
    yield "# [responses.requests]"
    yield "# pattern = 'Requests/sec:\\s+(?P<value>[0-9.]+)'"
    yield '# unit = "1/s"\n# better = "higher"\n# inverse = "request_s"\n'
    yield "# Conditions of a valid run. A run that breaks one is failed, however fast it is."
    yield '# [[check]]\n# what = "every request was answered"'
    yield "# without = '(?i)error|timeout'"


def _ready(wanted: Wanted) -> str:
    if wanted.ready:
        return f"{{ command = {_words(wanted.ready)} }}"
    if wanted.socket:
        return '{ socket = "{run}/socket" }'
    return '{ port = "{port}" }'


def _moved(draft: Draft, wanted: Wanted) -> Draft:
    """With braces doubled. What is the run's own is put in when the words are written."""
    if wanted.port is None and not wanted.socket and not wanted.ready:
        raise HeapwrightError(
            "how is it known that the service is ready?", "give --port, --socket or --ready"
        )
    places = _places(wanted)
    return replace(
        draft,
        server=tuple(_placed(word, places) for word in draft.server),
        environment={name: _placed(text, places) for name, text in draft.environment.items()},
        cwd=_placed(draft.cwd, places),
    )


def placed(wanted: Wanted) -> Wanted:
    """The client and the question, on the port and the socket of the run."""
    places = _places(wanted)
    return replace(
        wanted,
        client=tuple(_placed(word, places) for word in wanted.client),
        ready=tuple(_placed(word, places) for word in wanted.ready),
    )


def _places(wanted: Wanted) -> dict[str, str]:
    found = {wanted.socket: "{run}/socket"} if wanted.socket else {}
    if wanted.port is not None:
        found[str(wanted.port)] = "{port}"
    return found


def _placed(word: str, places: Mapping[str, str]) -> str:
    """Whole numbers only: 80 is not in 8080."""
    text = word.replace("{", "{{").replace("}", "}}")
    for name, place in places.items():
        text = re.sub(rf"(?<![0-9A-Za-z]){re.escape(name)}(?![0-9A-Za-z])", lambda _: place, text)  # noqa: B023
    return text


def _words(words: Sequence[str]) -> str:
    return f"[{', '.join(json.dumps(word, ensure_ascii=False) for word in words)}]"


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    return {name: value for name, _, value in (text.partition("=") for text in texts) if name}


def _split(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise HeapwrightError(f"{text!r} cannot be split into words: {error}") from error
    if not words:
        raise HeapwrightError("there is no command", "write it in quotes, as in --client 'ab URL'")
    return words


def split_words(text: str) -> tuple[str, ...]:
    """A command line as words. Raises HeapwrightError."""
    return tuple(_split(text))


def _logical_lines(text: str) -> Iterator[str]:
    """Lines of a unit: those that go on are joined, comments left out."""
    held = ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(("#", ";")):
            continue
        if stripped.endswith("\\"):
            held += stripped[:-1] + " "
            continue
        yield held + stripped
        held = ""
    if held:
        yield held
