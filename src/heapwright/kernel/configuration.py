# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel's configuration: fragments over tinyconfig, and the proof that each line took effect.

The kernel's configuration programs silently drop a symbol whose conditions do not hold. A kernel
without it would be measured as if it had it. So every line of the fragments is looked up in the
configuration that came out. A symbol that is to be off may be missing there, because a symbol that
cannot be chosen is off. But the source must know it, or its name is of another version.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright.base.errors import HeapwrightError

SYMBOL = re.compile(r"^CONFIG_(\w+)=(.+)$")
OFF = re.compile(r"^# CONFIG_(\w+) is not set$")
DEFINED = re.compile(r"^\s*(?:menu)?config\s+(\w+)\s*$", re.MULTILINE)
NOT_SET = "n"


@dataclass(frozen=True, slots=True)
class Fragment:
    """The symbols of one file, with the lines where they stand."""

    path: Path
    text: str
    symbols: Mapping[str, str]
    lines: Mapping[str, int]


def parse_symbols(text: str) -> dict[str, str]:
    """The symbols of a configuration with their values; what is not set is `n`."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if match := SYMBOL.match(line):
            found[match[1]] = match[2]
        elif match := OFF.match(line):
            found[match[1]] = NOT_SET
    return found


def read_fragment(path: Path) -> Fragment:
    """Raises HeapwrightError where the file cannot be read, or has a line that is no symbol."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HeapwrightError(f"{path} cannot be read: {error}", "install again") from error
    symbols: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if one := parse_symbols(line):
            for name in one.keys() & symbols.keys():
                raise HeapwrightError(f"{path}:{number}: CONFIG_{name} stands there already")
            symbols |= one
            lines |= dict.fromkeys(one, number)
        elif line.strip() and not line.startswith("#"):
            raise HeapwrightError(f"{path}:{number}: {line!r} is no line of a configuration")
    return Fragment(path, text, symbols, lines)


def read_fragments(folder: Path, allocator: str) -> tuple[Fragment, ...]:
    """What all kernels have, and what this one has. Raises HeapwrightError."""
    names = ("common", allocator)
    return tuple(read_fragment(folder / f"{name}.config") for name in names)


def configuration_hash(fragments: Sequence[Fragment]) -> str:
    """Fragments that differ in comments only give the same text."""
    digest = hashlib.sha256()
    for name, value in sorted(wanted(fragments).items()):
        digest.update(f"{name}={value}\n".encode())
    return digest.hexdigest()


def wanted(fragments: Iterable[Fragment]) -> dict[str, str]:
    """All symbols; those of a later fragment stand over those before."""
    together: dict[str, str] = {}
    for fragment in fragments:
        together |= fragment.symbols
    return together


def defined_symbols(source: Path) -> frozenset[str]:
    """Every symbol that the kernel's Kconfig files define."""
    found: set[str] = set()
    for path in source.rglob("Kconfig*"):
        if path.is_file():
            found.update(DEFINED.findall(path.read_text(encoding="utf-8", errors="replace")))
    return frozenset(found)


def check_configuration(
    fragments: Sequence[Fragment], config_text: str, defined: frozenset[str]
) -> None:
    """Raises HeapwrightError that names each symbol which did not take, with file and line."""
    there = parse_symbols(config_text)
    wrong: list[str] = []
    for fragment in fragments:
        for name, value in fragment.symbols.items():
            got = there.get(name, NOT_SET)
            where = f"{fragment.path}:{fragment.lines[name]}"
            if name not in defined:
                wrong.append(f"{where}: this kernel knows no CONFIG_{name}")
            elif got != value:
                wrong.append(f"{where}: CONFIG_{name}={value} was dropped, it is {got}")
    if wrong:
        raise HeapwrightError(
            f"the configuration dropped {len(wrong)} of the symbols of the fragments: {wrong[0]}",
            "\n".join([*wrong[1:], "nothing was built; the fragments fit another kernel version"]),
        )
