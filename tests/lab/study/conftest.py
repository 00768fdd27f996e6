# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Studies made of levels, without anything that is installed."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from heapwright.artefacts.study.file import StudyFile, parse_study

MakeStudy = Callable[..., StudyFile]


@pytest.fixture
def make_study() -> MakeStudy:
    """A study of factors and their levels, with further lines; every factor is in the command."""

    def make(
        factors: Mapping[str, Sequence[Any]],
        design: str = "",
        *,
        require: Sequence[str] = (),
        more: str = "",
    ) -> StudyFile:
        words = ", ".join(f'"{{{name}}}"' for name in factors)
        tables = "\n".join(
            f"[factors.{name}]\nlevels = [{', '.join(map(_written, levels))}]\n"
            + ('role = "cpus"\n' if name == "cpus" else "")
            for name, levels in factors.items()
        )
        rules = "\n".join(f"[[constraints]]\nrequire = {json.dumps(each)}" for each in require)
        return parse_study(
            f'format = 1\nname = "x"\ntitle = "x"\ncommand = ["true", {words}]\n'
            f'[responses.time]\nfrom = "wall"\n{tables}\n{rules}\n[design]\n{design}\n{more}',
            "x.toml",
        )

    return make


def _written(level: Any) -> str:
    if isinstance(level, Mapping):
        return f"{{ {', '.join(f'{key} = {_written(value)}' for key, value in level.items())} }}"
    return json.dumps(level)
