# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright study from`: reads profiles, derives levels, writes a study file."""

from collections.abc import Sequence
from pathlib import Path

from heapwright.artefacts.study.file import parse_study
from heapwright.commands.output import Destination
from heapwright.profile.reader import read_profile
from heapwright.study.derivation import Program, derive_levels
from heapwright.study.derived_text import study_text


def derive(profiles: Sequence[Path], output: str, name: str) -> None:
    """The destination is tested before the profiles are read. The study is checked like any
    other."""
    destination = Destination(output, "-o")
    programs = [
        Program(label, read_profile(path))
        for label, path in zip(_names(profiles), profiles, strict=True)
    ]
    text = study_text(derive_levels(programs), name)
    parse_study(text, "--name" if output == "-" else output)
    destination.write(text)


def _names(paths: Sequence[Path]) -> list[str]:
    """The names of the files without their endings; with their folders if names are equal."""
    names = [path.stem for path in paths]
    return [
        name if names.count(name) == 1 else str(path)
        for name, path in zip(names, paths, strict=True)
    ]
