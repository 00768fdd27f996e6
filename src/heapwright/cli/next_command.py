# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The next useful command after a verb, as one line on standard error.

The line is the same on a terminal and in a pipe, because standard output is not touched. It is left
out with `--quiet` and where a document goes to standard output.
"""

import shlex
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from heapwright.base.paths import is_trace

COMMAND = "COMMAND"
ANSWERS = range(10, 20)
"""Exit statuses that are answers of `gate`, `history` and `doctor`, and no errors."""
WORSE = (10, 13)
"""Those of `gate` after which the cause is looked for."""
NEXT: Mapping[str, str] = {
    "agree": "heapwright compare {target}   (compare the allocators on the program itself)",
    "allocators": "heapwright compare {target}   (find the best allocator for a program)",
    "analyse": "heapwright report {first} -o study.html   (all charts as a page)",
    "compare": "heapwright explain {target}   (why its memory is what it is)",
    "compose": "heapwright compare -a {first},glibc {target}   (measure the new allocator)",
    "doctor": "heapwright compare {target}   (find the best allocator for a program)",
    "drag": "heapwright profile --stacks --html profile.html {target}   (sites and sizes)",
    "explain": "heapwright profile --stacks --html profile.html {target}   (sites and charts)",
    "export": "heapwright profile TRACE   (the program's requests to malloc)",
    "gate": "heapwright history FOLDER   (changes over the documents of compare --store FOLDER)",
    "history": "heapwright history {first} --html history.html   (all curves as a page)",
    "import": "heapwright profile TRACE   (the program's requests to malloc)",
    "limit": "heapwright profile --stacks --html profile.html {target}   (sites and charts)",
    "profile": "heapwright explain {target}   (leak, retention or growth, and where)",
    "programs": "heapwright compare --program NAME   (compare allocators on a real program)",
    "record": "heapwright explain {output}   (leak, retention or growth, and where)",
    "replay": "heapwright compare {target}   (compare the allocators on the program itself)",
    "synth": "heapwright replay TRACE   (compare the allocators on a trace)",
    "tailor": "heapwright compare {target}   (compare with other allocators)",
    "taxonomy": "heapwright report {json} -o taxonomy.html   (all curves as a page)",
    "top": "heapwright attach --stacks PID   (records the process: its call sites)",
    "trace": "heapwright profile TRACE   (the program's requests to malloc)",
    "tune": "heapwright compare {target}   (compare with other allocators)",
    "validate": "heapwright compare -a {first},glibc {target}   (both on a program of yours)",
    "workloads": "heapwright workloads show NAME   (what a workload does)",
}
"""By verb. `study`, `report`, `kernel`, `look` and `attach` print their own next command. `run`
becomes another program."""
OF_TRACE: Mapping[str, str] = {
    "explain": "heapwright profile --html profile.html {trace}   (sites and charts)",
    "export": "heapwright profile {trace}   (the program's requests to malloc)",
    "import": "heapwright profile {trace}   (the program's requests to malloc)",
    "profile": "heapwright explain {trace}   (leak, retention or growth, and where)",
    "synth": "heapwright replay {trace}   (compare the allocators on a trace)",
    "trace": "heapwright profile {trace}   (the program's requests to malloc)",
    "tune": "heapwright replay {trace}   (compare the allocators on the trace)",
}
"""Used instead if the arguments name an existing trace."""
OF_STATUS: Mapping[str, str] = {
    "doctor": "heapwright compare --exact {target}   (count instructions on an unfit machine)",
    "gate": "heapwright compare --baseline old -a old=OLD.so,new=NEW.so --json both.json {target}"
    "   (old and new in the same blocks, for heapwright gate both.json)",
    "history": NEXT["history"],
}
"""Used instead if the answer has an exit status of its own."""
OF_BOTH = "heapwright profile --compare OLD.json NEW.json   (what changed in the requests)"
"""Used instead if `gate` found one document that holds both sides worse. Its other answers
name the next step themselves."""
OF_OPTION: Mapping[tuple[str, str], str] = {
    ("compose", "--delete"): "heapwright allocators   (those that are left)",
    ("explain", "--hours"): "heapwright explain {target}   (records calls: the place of a leak)",
    ("history", "--html"): "heapwright gate OLD.json NEW.json   (judge two of the documents)",
    ("programs", "--hours"): "heapwright explain {target}   (records calls: the place of a leak)",
    ("replay", "--check"): "heapwright replay {trace}   (compare times and memory)",
    ("replay", "--curve"): "heapwright replay {trace}   (compare times and memory)",
    ("top", "--by-site"): "heapwright look PID   (what is resident in the process, and why)",
}
"""Used instead if the option is present."""
OF_LIMIT = "heapwright record -o {output} {target}   (without --limit, which left no call)"
"""Used instead if `--limit` stopped a recording before its first call. Other empty traces have no
line, because a note states the reason."""
OF_ONE: Mapping[tuple[str, str], str] = {
    ("allocators", "show"): "heapwright compare -a {second},glibc {target}   (measure it)",
    ("programs", "show"): "heapwright compare --program {second}   (compare allocators on it)",
    ("programs", "run"): "heapwright compare --program {second}   (compare allocators on it)",
    ("programs", "check"): "heapwright compare --program {second}   (compare allocators on it)",
    ("workloads", "show"): 'heapwright compare -- "$(heapwright workloads path {second})"   '
    "(compare the allocators on it)",
}
"""Used instead for these subcommands of one named item."""
SILENT = frozenset({"-q", "--quiet", "-h", "--help", "path", "--flags"})
JSON_IS_PRINTED = frozenset({"allocators", "compose", "programs", "workloads"})


def next_command(arguments: Sequence[str], status: int | str = 0) -> str:
    """The line for the arguments of the process; empty where none is to be printed.

    `status` is the exit status. One that is no answer has no line, because the error says what to
    do.
    """
    own, command = _parted(arguments)
    command = command or _named_command(own)
    text = _text(own, command, status)
    if not text or SILENT & set(own) or _prints_a_document(own):
        return ""
    words = [word for word in own[1:3] if not word.startswith("-")]
    first, second = (*words, "NAME", "NAME")[:2]
    line = text.format(
        target=_target(own, command),
        first=shlex.quote(first),
        second=shlex.quote(second),
        output=shlex.quote(_output(own, command)),
        json=shlex.quote(_value(own, "--json") or "TAXONOMY.json"),
        trace=shlex.quote(_trace(own)),
    )
    return f"next: {line}"


def _text(own: Sequence[str], command: Sequence[str], status: int | str) -> str:
    if not own:
        return ""
    if status:
        return _of_status(own, int(status)) if status in ANSWERS else ""
    for (verb, option), line in OF_OPTION.items():
        if own[0] == verb and _has(own, option):
            return line
    if len(own) > 2 and (text := OF_ONE.get((own[0], own[1]))) and not own[2].startswith("-"):
        return text
    if own[0] == "record":
        record = import_module("heapwright.commands.record")  # the help imports no command
        if record.is_empty(Path(_output(own, command))):
            return OF_LIMIT if _has(own, "--limit") else ""
    return (OF_TRACE if _trace(own) else {}).get(own[0]) or NEXT.get(own[0], "")


def _of_status(own: Sequence[str], status: int) -> str:
    """After an answer with an exit status of its own."""
    written = _value(own, "--json")
    read = [word for word in own[1:] if word != written and Path(word).is_file()]
    if own[0] == "gate" and len(read) == 1:
        return OF_BOTH if status in WORSE else ""
    if own[0] == "history" and _has(own, "--html"):
        return OF_OPTION["history", "--html"]
    return OF_STATUS.get(own[0], "")


def _has(own: Sequence[str], option: str) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in own)


def _target(own: Sequence[str], command: Sequence[str]) -> str:
    """The target of the next verb: the program by its file, or the command."""
    program = _value(own, "--program")
    return (
        f"--program {shlex.quote(program)}" if program else f"-- {shlex.join(command) or COMMAND}"
    )


def _trace(own: Sequence[str]) -> str:
    """The trace that was written, or else the one that was read; empty if there is none."""
    written = _value(own, "-o", "--output")
    return next((word for word in (written, *own[1:]) if word and is_trace(Path(word))), "")


def _value(own: Sequence[str], *options: str) -> str:
    """The value of the first of these options that is present; empty without one."""
    for word, after in pairwise((*own, "")):
        name, is_joined, value = word.partition("=")
        if name in options:
            return value if is_joined else after
    return ""


def _parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments of heapwright, and the command after the dashes."""
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
    program = _value(own, "--program")
    default = Path(program).stem or (Path(command[0]).name if command else "TRACE")
    return _value(own, "-o", "--output") or (f"{default}.trace" if default != "TRACE" else default)
