# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of TOML keys: those of any document, however it is written."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.base.toml_lines import Path, TomlLines

TEXT = '''# a comment = [not, a key]
a = 1
b.c = "x # y = 2"
d = [1, [2,
  3], { x = 1, "y z" = 'q]' }, # com ]
  """a
b]\\"""" , 5]
[factors.threads]
levels = [
  1, # one
  { name = "2", low = 1 },
]
[[c]]
require = 'it''s'
'''.replace("'it''s'", '"its"')

MORE = """[[c]]
require = "b"
[c.sub]
x = 1
[[c.inner]]
y = 1
["q.r".s]
t = 2020-01-01T00:00:00Z
'''u''' = 0
""".replace("'''u'''", "'u'")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("a",), 2),
        (("b", "c"), 3),
        (("d", 0), 4),
        (("d", 1, 1), 5),
        (("d", 2, "y z"), 5),
        (("d", 3), 6),
        (("d", 4), 7),
        (("factors", "threads"), 8),
        (("factors", "threads", "levels", 1, "low"), 11),
        (("c", 0, "require"), 14),
        (("c", 1, "require"), 16),
        (("c", 1, "sub", "x"), 18),
        (("c", 1, "inner", 0, "y"), 20),
        (("q.r", "s", "t"), 22),
        (("q.r", "s", "u"), 23),
    ],
)
def test_every_kind_of_key_has_its_line(path: Path, line: int) -> None:
    tomllib.loads(TEXT + MORE)
    lines = TomlLines(TEXT + MORE)
    assert lines.found(path) == (len(path), line)


def test_a_missing_key_has_the_line_of_its_parent() -> None:
    lines = TomlLines(TEXT)
    assert lines.of(("factors", "threads", "levels", 7, "name")) == 9
    assert lines.of(("factors", "size")) == 8
    assert lines.of(("nothing",)) == 1
    assert TomlLines("").of(("a",)) == 1


keys = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=5)
scalars = st.one_of(
    st.integers(-9, 9), st.booleans(), st.text(max_size=6).filter(lambda text: "\x7f" not in text)
)
documents = st.dictionaries(
    keys,
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner)),
    max_size=4,
)


def written(value: Any) -> str:
    """A value as TOML, each member of a list on a line of its own."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{quoted(key)} = {written(inner)}" for key, inner in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list):
        return "[\n" + "".join(f" {written(inner)}, # ]\n" for inner in value) + "]"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    if isinstance(value, list):
        for place, inner in enumerate(value):
            yield from paths(inner, (*path, place))


@given(documents)
def test_every_path_of_any_document_is_found(document: dict[str, Any]) -> None:
    text = "".join(f"{quoted(key)} = {written(value)}\n" for key, value in document.items())
    assert tomllib.loads(text) == document
    lines = TomlLines(text)
    previous = 1
    for path in paths(document):
        steps, line = lines.found(path)
        assert steps == len(path), path
        assert previous <= line <= text.count("\n") + 1
        previous = line
