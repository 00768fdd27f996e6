# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The next useful command after a verb, as one line on standard error.

The line is the same on a terminal and in a pipe, because standard output is not touched. It is left
out with `--quiet` and where a document goes to standard output.
"""

import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

COMMAND = "COMMAND"
NEXT: Mapping[str, str] = {
    "agree": "heapwright compare -- {command}   (compare the allocators on the program itself)",
    "allocators": "heapwright compare -- {command}   (find the best allocator for a program)",
    "analyse": "heapwright report {first} -o study.html   (all charts as a page)",
    "compare": "heapwright explain -- {command}   (why its memory is what it is)",
    "compose": "heapwright compare -a {first},glibc -- {command}   (measure the new allocator)",
    "doctor": "heapwright compare -- {command}   (find the best allocator for a program)",
    "drag": "heapwright profile --stacks --html profile.html -- {command}   (sites and sizes)",
    "explain": "heapwright profile --stacks --html profile.html -- {command}   (sites and charts)",
    "export": "heapwright profile {first}   (what the program asked of malloc)",
    "gate": "heapwright compare -- {command}   (find the best allocator for a program)",
    "import": "heapwright profile TRACE   (what the program asked of malloc)",
    "profile": "heapwright explain -- {command}   (leak, retention or growth, and where)",
    "programs": "heapwright compare --program NAME   (compare allocators on a real program)",
    "record": "heapwright explain {output}   (leak, retention or growth, and where)",
    "replay": "heapwright compare -- {command}   (compare the allocators on the program itself)",
    "synth": "heapwright replay TRACE   (compare the allocators on a trace)",
    "taxonomy": "heapwright report TAXONOMY.json -o taxonomy.html   (all curves as a page)",
    "trace": "heapwright profile TRACE   (what the program asked of malloc)",
    "workloads": "heapwright workloads show NAME   (what a workload does)",
}
"""By verb. `study`, `report` and `kernel` name their results and what follows themselves."""
SILENT = frozenset({"-q", "--quiet", "-h", "--help", "path", "--flags"})
JSON_IS_PRINTED = frozenset({"allocators", "compose", "programs", "workloads"})


def next_command(arguments: Sequence[str]) -> str:
    """The line for the arguments of the process; empty where none is to be printed."""
    own, command = _parted(arguments)
    text = NEXT.get(own[0], "") if own else ""
    command = command or _named_command(own)
    if not text or SILENT & set(own) or _prints_a_document(own):
        return ""
    first = own[1] if len(own) > 1 and not own[1].startswith("-") else "NAME"
    line = text.format(
        command=shlex.join(command) or COMMAND,
        first=shlex.quote(first),
        output=shlex.quote(_output(own, command)),
    )
    return f"next: {line}"


def _parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our own arguments, and the command after the dashes."""
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def _named_command(own: Sequence[str]) -> list[str]:
    """The first command that has a name: `--command NAME=COMMAND`."""
    for word, after in pairwise(own):
        if word == "--command":
            return shlex.split(after.partition("=")[2])
    given = (
        word.split("=", 2)[2]
        for word in own
        if word.startswith("--command=") and word.count("=") > 1
    )
    return shlex.split(next(given, ""))


def _prints_a_document(own: Sequence[str]) -> bool:
    """Whether standard output is a document: a file `-`, or JSON in place of a list."""
    return (
        "-" in own
        or any(word.endswith("=-") for word in own)
        or ("--json" in own and own[0] in JSON_IS_PRINTED)
    )


def _output(own: Sequence[str], command: Sequence[str]) -> str:
    """The trace that `record` has written, as far as the arguments say."""
    for word, after in pairwise(own):
        if word in {"-o", "--output"}:
            return after
    given = [word.partition("=")[2] for word in own if word.startswith("--output=")]
    default = f"{Path(command[0]).name}.trace" if command else "TRACE"
    return next(iter(given), default)
