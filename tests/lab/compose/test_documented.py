# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the pages show of `heapwright compose` can be made, as far as no compiler is needed."""

import re
import shlex
from pathlib import Path

import pytest

from heapwright.artefacts.composition.aliases import Scope
from heapwright.artefacts.composition.expression import parse_expression
from heapwright.artefacts.composition.layers import Toolbox
from heapwright.cli.compose import compose
from heapwright.compose.edits import apply, parse_edits
from heapwright.compose.origins import from_type
from heapwright.compose.source_text import type_of

ROOT = Path(__file__).parents[3]
PAGES = (ROOT / "README.md", ROOT / "docs" / "reference" / "compose.md")
COMMAND = re.compile(r"^(?:\$ |\s*)heapwright compose (?P<arguments>\S.*)$", re.MULTILINE)


def commands() -> list[str]:
    texts = [path.read_text("utf-8") for path in PAGES] + [compose.__doc__ or ""]
    found = [match["arguments"] for text in texts for match in COMMAND.finditer(text)]
    found += re.findall(r"`heapwright compose ([^`]+)`", texts[0])
    return [each for each in dict.fromkeys(found) if re.search(r"--(type|from) '?[^A-Z\s]", each)
            or "--type '" in each]  # fmt: skip


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_pages_can_be_made(command: str, toolbox: Toolbox, scope: Scope) -> None:
    words = shlex.split(command)
    options = list(zip(words[1::2], words[2::2], strict=True))
    given = dict(options)
    if type_ := given.get("--type"):
        from_type(type_, toolbox, scope)
        return
    tree = scope.resolve(parse_expression(type_of(given["--from"])))
    for edit in parse_edits([each for each in options if each[0] != "--from"]):
        changed = apply(edit, tree, toolbox)
        assert changed != tree
        tree = changed


def test_there_are_commands_to_check() -> None:
    assert len(commands()) >= 5
