# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A page for each verb, from the definitions of the command line."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from documentation.markup import cell, fenced, plain, table
from heapwright.cli.lazy_group import load
from heapwright.cli.verbs import VERBS, Verb

MANUAL = re.compile(r"docs/((?:reference|how-to|explanation)/[\w-]+\.md)")


def verb_pages(docs: Path) -> dict[str, str]:
    """A page for each verb and for each verb of a group, and an index."""
    pages: dict[str, str] = {}
    rows = []
    for verb in sorted(VERBS, key=lambda each: each.name):
        manual = _manual(verb, docs)
        for name, command, context in _commands(verb.name, load(verb), None):
            slug = name.replace(" ", "-")
            pages[f"reference/verbs/{slug}.md"] = _page(name, command, context, manual)
            rows.append((f"[{name}]({slug}.md)", cell(plain(_paragraphs(command)[0]))))
    pages["reference/verbs/README.md"] = (
        "# Command line\n\nAll verbs of `heapwright` with all options, from the definitions that "
        "the program itself uses. `heapwright VERB --help` prints the same.\n\n"
        + table(("verb", "what it does"), rows)
    )
    return pages


def _commands(name: str, command: Any, parent: Any) -> Iterator[tuple[str, Any, Any]]:
    context = typer.Context(command, info_name=f"heapwright {name}" if parent is None else name)
    if parent is not None:
        context.info_name = f"heapwright {name}"
    yield name, command, context
    for each in getattr(command, "commands", {}).values():
        yield from _commands(f"{name} {each.name}", each, context)


def _manual(verb: Verb, docs: Path) -> str:
    """The manual page that the module names, relative to the pages of the verbs."""
    named = MANUAL.search(import_module(verb.path).__doc__ or "")
    own = docs / "reference" / f"{verb.name}.md"
    page = f"reference/{verb.name}.md" if own.exists() else named[1] if named else ""
    return f"../../{page}" if page else ""


def _page(name: str, command: Any, context: Any, manual: str) -> str:
    records = [(each, each.get_help_record(context)) for each in command.get_params(context)]
    shown = [(each.param_type_name, *record) for each, record in records if record]
    rows = [(_forms(forms), cell(plain(said))) for _, forms, said in shown]
    arguments = [row for row, (kind, *_) in zip(rows, shown, strict=True) if kind == "argument"]
    options = [row for row, (kind, *_) in zip(rows, shown, strict=True) if kind != "argument"]
    verbs = [
        (
            f"[{each.name}]({name.replace(' ', '-')}-{each.name}.md)",
            cell(plain(_paragraphs(each)[0])),
        )
        for each in getattr(command, "commands", {}).values()
    ]
    parts = [
        f"# heapwright {name}: options\n",
        fenced(_usage(command, context), "text"),
        *(help_text(paragraph) for paragraph in _paragraphs(command)),
        f"[The manual page]({manual}) explains the results.\n" if manual else "",
        "## Verbs\n" if verbs else "",
        table(("verb", "what it does"), verbs),
        "## Arguments\n" if arguments else "",
        table(("argument", "meaning"), arguments),
        "## Options\n" if options else "",
        table(("option", "meaning"), options),
    ]
    return "\n".join(part for part in parts if part)


def _forms(forms: str) -> str:
    """The forms of an option, with short names for the types that Typer prints."""
    short = re.sub(r"<list\[.*?\]>", "", re.sub(r"<(int|float) range>", "N", forms)).strip()
    return ", ".join(f"`{cell(form)}`{{.option}}" for form in short.split(", "))


def _usage(command: Any, context: Any) -> str:
    return str(command.get_usage(context)).removeprefix("Usage: ")


def _paragraphs(command: Any) -> list[str]:
    return [each for each in re.split(r"\n\s*\n", (command.help or "").strip("\n")) if each.strip()]


def help_text(paragraph: str) -> str:
    """A paragraph of a help text as Markdown. Its indented lines are examples."""
    lines = paragraph.removeprefix("\b").strip("\n").splitlines()
    prose = [line for line in lines if not line.startswith("  ")]
    examples = [line.strip() for line in lines if line.startswith("  ")]
    said = plain(" ".join(" ".join(prose).split()))
    parts = [f"{said}\n"] if said else []
    if examples:
        parts.append(fenced("\n".join(examples), "sh"))
    return "\n".join(parts)
