# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A group that imports a verb only when the user names it."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from heapwright.cli.lazy_libraries import postpone
from heapwright.cli.verbs import PURPOSES, VERBS, Verb


class LazyGroup(TyperGroup):
    """Lists verbs from the table, and imports the one that is run."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._verbs = {verb.name: verb for verb in VERBS}
        for purpose, verbs in PURPOSES.items():
            for verb in verbs:
                self.add_command(TyperCommand(verb.name, help=verb.help, rich_help_panel=purpose))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the overview; `formatter` collects nothing."""
        del formatter
        import_module("heapwright.cli.overview").print_overview(self, ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb itself in place of its line in the table."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else load(self._verbs[name]), rest


def load(verb: Verb) -> Any:
    """Import a verb: the command or the group of its module."""
    postpone()
    return typer.main.get_command(import_module(verb.path).app)
