# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/words.py finds unclear words and long sentences in every text that users read."""

import pytest
from words import Rules, findings

RULES = Rules.read()
LONG = " ".join(["word"] * 26)


@pytest.mark.parametrize(
    ("path", "source", "rules"),
    [
        ("a.md", "Somebody did it.", ["words"]),
        ("a.md", f"{LONG}.", ["long"]),
        ("a.md", "The caller did it.", []),
        ("src/a.py", "# it is for whoever wants it", ["words"]),
        ("src/a.py", 'raise ValueError("there is nobody who can do that")', ["words", "words"]),
        ("tests/a.py", 'text = "there is nobody who can do that"', []),
        ("include/a.hpp", "// for nobody\nint a;\n", ["words"]),
        ("catalogue/a.toml", 'caption = "taken by whoever comes"', ["words"]),
        ("catalogue/a.toml", f'[[part]]\ncaution = ["short", "{LONG}"]', ["long"]),
        ("catalogue/a.toml", 'command = ["echo", "nobody"]\npublished = "who knows"', []),
        ("catalogue/a.toml", "# nobody\na = 1", ["words"]),
        ("catalogue/a.awk", "# so many lines\n", ["words"]),
        ("catalogue/a.lua", "-- told by nobody\nlocal a = 1\n", ["words", "words"]),
        ("src/a.js", "// told apart from those of others\n// by whoever\n", ["words"]),
        ("native/a.map", "/* ours */ { global: malloc; };\n", ["words"]),
    ],
)
def test_each_text_of_users_is_read(path: str, source: str, rules: list[str]) -> None:
    assert [finding.rule for finding in findings(path, source, RULES)] == rules


def test_a_finding_in_the_catalogue_has_its_line() -> None:
    source = 'format = 1\n\n[[check]]\nwhat = "the client was told of no error"\n'
    (found,) = findings("catalogue/programs/a.toml", source, RULES)
    assert (found.line, found.rule) == (4, "words")
