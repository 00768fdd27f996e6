# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What `heapwright study from` does: reads profiles, derives levels, writes a study file."""

from collections.abc import Sequence
from pathlib import Path

from heapwright.artefacts.study.file import parse_study
from heapwright.commands.output import Destination
from heapwright.profile.reader import read_profile
from heapwright.study.derivation import Program, derive_levels
from heapwright.study.derived_text import study_text


def derive(profiles: Sequence[Path], output: str, name: str) -> None:
    """The destination is tried before the profiles are read; the study is checked like any."""
    destination = Destination(output, "-o")
    programs = [
        Program(label, read_profile(path))
        for label, path in zip(_names(profiles), profiles, strict=True)
    ]
    text = study_text(derive_levels(programs), name)
    parse_study(text, "--name" if output == "-" else output)
    destination.write(text)


def _names(paths: Sequence[Path]) -> list[str]:
    """The files' names without their endings; with their folders where that is not enough."""
    names = [path.stem for path in paths]
    return [
        name if names.count(name) == 1 else str(path)
        for name, path in zip(names, paths, strict=True)
    ]
