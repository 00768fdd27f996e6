# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Small studies to run, and a program that leaves a mark when it begins and when it ends."""

from pathlib import Path

MARKING = """#!/bin/sh
# Marks that it began, waits so many seconds, marks that it is over, and tells a number.
cd "$(dirname "$0")"
echo "$1" >> begun
sleep "$2"
echo "$1" >> ended
echo "value $1.5"
"""

STUDY = """
format = 1
name = "small"
title = "a small study"
command = ["{{folder}}/marking", "{{size}}", "{pause}"]
[factors.allocator]
levels = ["glibc", "kingsley"]
[factors.size]
levels = [1, 2]
[design]
blocks = {blocks}
discard = {discard}
seed = 7
[responses.time]
from = "wall"
[responses.value]
from = "output"
pattern = 'value (?P<value>\\S+)'
"""


def write_study(
    folder: Path, *, blocks: int = 3, discard: int = 1, pause: float = 0.0, more: str = ""
) -> Path:
    """A study of four treatments, with its program beside it."""
    program = folder / "marking"
    program.write_text(MARKING, encoding="utf-8")
    program.chmod(0o755)
    text = STUDY.format(blocks=blocks, discard=discard, pause=pause)
    return write_text(folder, text + more)


def write_text(folder: Path, text: str) -> Path:
    file = folder / "small.toml"
    file.write_text(text, encoding="utf-8")
    return file


def marks(folder: Path, name: str) -> list[str]:
    """What the program marked: `begun` or `ended`."""
    file = folder / name
    return file.read_text(encoding="utf-8").split() if file.exists() else []
