# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The overview of all verbs, as `heapwright --help` prints it.

Typer's own renderer imports a Markdown parser and a highlighter of source code, which take longer
than everything else. This one draws the same text with the same styles. A test compares both.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from heapwright.cli.verbs import PURPOSES, VERBS

OPTION, SWITCH, TYPE, VERB = "bold cyan", "bold green", "bold yellow", "bold cyan"


def print_overview(group: Any, context: Any) -> None:
    """Print usage, options and verbs of a Typer group."""
    console = Console(highlight=False)
    usage = Text(group.get_usage(context), style="bold")
    usage.highlight_regex("Usage: ", "yellow")
    console.print(Padding(usage, 1))
    console.print(Padding(Text(group.help or ""), (0, 1, 1, 1)))
    parameters = group.get_params(context)
    options = _table((_option(each, context) for each in parameters), [Column() for _ in range(5)])
    console.print(_panel("Options", options))
    width = max(len(verb.name) for verb in VERBS)
    for purpose, verbs in PURPOSES.items():
        rows = ([Text(verb.name), Text(verb.help)] for verb in verbs)
        table = _table(rows, [Column(style=VERB, no_wrap=True, width=width)])
        console.print(_panel(purpose, table))


def _option(option: Any, context: Any) -> list[Text]:
    """The long form, the short form, the type, and the help."""
    forms = option.opts
    kind = Text(option.display_type_rich(ctx=context) or "", style=TYPE)
    kind.highlight_regex(r"^<|>$", "dim")
    return [
        Text(",".join(each for each in forms if each.startswith("--")), style=OPTION),
        Text(",".join(each for each in forms if not each.startswith("--")), style=SWITCH),
        Text(),
        Text(),
        kind,
        Text(option.help or ""),
    ]


def _table(rows: Iterable[Sequence[RenderableType]], columns: Sequence[Column]) -> Table:
    """The last column takes the width that is left."""
    table = Table(
        *columns,
        Column(ratio=1),
        highlight=False,
        show_header=False,
        expand=True,
        box=None,
        pad_edge=False,
        padding=(0, 1),
    )
    for row in rows:
        table.add_row(*row)
    return table


def _panel(title: str, table: Table) -> Panel:
    return Panel(table, border_style="dim", title=title, title_align="left")
