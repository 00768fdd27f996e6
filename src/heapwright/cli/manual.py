# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Manual pages from the definitions of the command line.

`python -m heapwright.cli.manual FOLDER` writes heapwright.1 and one page for each verb into
FOLDER/man1. A verb of a group has its own page, such as heapwright-trace-info.1. `make man` runs
this for the tool's environment.
"""

import sys
from collections.abc import Iterator, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

from heapwright import __version__
from heapwright.cli.lazy_group import load
from heapwright.cli.main import app
from heapwright.cli.verbs import PURPOSES, VERBS

EXAMPLES = "Examples:\n"
USAGE = 2


def pages() -> dict[str, str]:
    """The text of each page in the format of man(7), by the name of the page."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("heapwright", [], resilient_parsing=True)
    found = {"heapwright": _page(("heapwright",), group, context, _purposes())}
    for verb in VERBS:
        found.update(_pages_below(("heapwright", verb.name), load(verb), context))
    return found


def _pages_below(words: tuple[str, ...], command: Any, parent: Any) -> Iterator[tuple[str, str]]:
    """The page of a verb, and the pages of the verbs within it."""
    context = command.make_context(words[-1], [], parent=parent, resilient_parsing=True)
    inner = getattr(command, "commands", {})
    rows = [((*words, name), each.help) for name, each in inner.items()]
    yield "-".join(words), _page(words, command, context, _section("COMMANDS", rows))
    for name, each in inner.items():
        yield from _pages_below((*words, name), each, context)


def _page(words: tuple[str, ...], command: Any, context: Any, verbs: Sequence[str]) -> str:
    name = "-".join(words)
    description, _, examples = cleandoc(command.help or "").partition(EXAMPLES)
    summary, *rest = description.strip().split("\n\n")
    usage = " ".join(command.collect_usage_pieces(context))
    records = filter(None, (each.get_help_record(context) for each in command.get_params(context)))
    lines = [
        f'.TH "{_text(name.upper())}" 1 "" "heapwright {__version__}" "Heapwright"',
        *(".SH NAME", f"{_text(name)} \\- {_text(summary.rstrip('.'))}"),
        *(".SH SYNOPSIS", f".B {_text(' '.join(words))}", _text(usage)),
        *(".SH DESCRIPTION", _text(summary)),
    ]
    for paragraph in rest:
        lines += [".PP", _text(paragraph)]
    if examples:
        lines += [".SH EXAMPLES", ".nf", *map(_text, cleandoc(f"\n{examples}").split("\n")), ".fi"]
    lines += verbs
    lines.append(".SH OPTIONS")
    for forms, explanation in records:
        lines += [".TP", f".B {_text(forms)}", _text(explanation)]
    if len(words) > 1:
        lines += [".SH SEE ALSO", f".BR {_text('-'.join(words[:-1]))} (1)"]
    return "\n".join(lines) + "\n"


def _purposes() -> list[str]:
    """The verbs of the tool, grouped as in its help."""
    found = []
    for purpose, verbs in PURPOSES.items():
        rows = [(("heapwright", verb.name), verb.help) for verb in verbs]
        found += _section(purpose.upper(), rows)
    return found


def _section(title: str, rows: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """A section that lists other pages, each with the first sentence of its help."""
    lines = [f".SH {_text(title)}"] if rows else []
    for words, explanation in rows:
        first = cleandoc(explanation or "").partition("\n\n")[0]
        lines += [".TP", f".BR {_text('-'.join(words))} (1)", _text(first)]
    return lines


def _text(text: str) -> str:
    """One line of plain text in which roff finds no request and no escape; ASCII only."""
    line = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    line = "".join(each if each.isascii() else f"\\[u{ord(each):04X}]" for each in line)
    return f"\\&{line}" if line.startswith((".", "'")) else line


def main(arguments: Sequence[str]) -> int:
    """Write the pages into the folder that the one argument names."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m heapwright.cli.manual FOLDER\n")
        return USAGE
    folder = Path(arguments[0]) / "man1"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
