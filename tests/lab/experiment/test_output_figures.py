# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers are found in what programs print, and what is none is said in words."""

from typing import Any

import pytest

from heapwright.artefacts.study.model import Response
from heapwright.experiment.output_figures import number_in


def response(**how: str) -> Response:
    fields: dict[str, Any] = {"from": "output", **how}
    return Response.model_validate(fields)


@pytest.mark.parametrize(
    ("how", "text", "number"),
    [
        ({"pattern": r"took (?P<value>\S+) s"}, "took 1.5 s\n", 1.5),
        ({"pattern": r"took (?P<value>\S+) s"}, "took 1 s\ntook 2e-3 s\n", 0.002),
        ({"pattern": r"^(?P<value>\d+)$"}, "one\n12\nthree", 12),
        ({"pattern": r"(?P<value>[\d,]+) refs"}, "1,234,567 refs", 1234567),
        ({"json": "seconds"}, '{"seconds": 2.5}', 2.5),
        ({"json": "a.1.b"}, '{"a": [0, {"b": "7"}]}', 7),
        ({"json": "x"}, 'starting\n{"x": 1}\n{"x": 2}\n', 2),
        ({"json": "x"}, '{\n "x": 4\n}\n', 4),
        ({"last_number": "total"}, "total 5\ntotal 6 of 7\nother 8\n", 7),
        ({"last_number": ""}, "1 2\n3 -4.5e1\n\n", -45),
    ],
)
def test_a_number_is_found(how: dict[str, str], text: str, number: float) -> None:
    assert number_in(text, response(**how)) == number


def test_null_is_not_measured() -> None:
    assert number_in('{"x": null}', response(json="x")) is None


@pytest.mark.parametrize(
    ("how", "text", "words"),
    [
        ({"pattern": "(?P<value>x)"}, "", "nothing that it printed fits"),
        ({"pattern": "(?P<value>x)"}, "x", "no number: 'x'"),
        ({"pattern": "a|(?P<value>x)"}, "a", "nothing that it printed fits"),
        ({"json": "x"}, "", "no JSON"),
        ({"json": "x"}, "12", "no JSON"),
        ({"json": "x.y"}, '{"x": 1}', "has no 'x.y'"),
        ({"json": "x.y"}, '{"x": []}', "has no 'x.y'"),
        ({"json": "x"}, '{"x": true}', "is no number"),
        ({"json": "x"}, '{"x": NaN}', "no finite number"),
        ({"last_number": "total"}, "sum 5", "no line with 'total'"),
        ({"last_number": ""}, "\n\n", "printed no line"),
        ({"last_number": "total"}, "total none", "has no number"),
    ],
)
def test_an_invalid_number_is_reported(how: dict[str, str], text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        number_in(text, response(**how))
