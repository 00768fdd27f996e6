# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Machines made of files in a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heapwright.doctor.machine import Machine

MakeMachine = Callable[..., Machine]


@pytest.fixture
def machine(tmp_path: Path) -> MakeMachine:
    """`machine({"proc/loadavg": "0.1"}, cpus=…)`: a machine with these files and no others."""

    def make(files: dict[str, str], **known: Any) -> Machine:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8")
        usual: dict[str, Any] = {
            "cpus": frozenset({0, 1, 2, 3}),
            "find": lambda _name: None,
            "free": lambda _folder: 1 << 40,
        }
        return Machine(root=tmp_path, **{**usual, **known})

    return make
