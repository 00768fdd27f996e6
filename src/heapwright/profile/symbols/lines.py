# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Source lines, and the functions inlined at an address, by the distribution's addr2line.

It is called only for files that have DWARF lines. For an address it prints the address itself and
then pairs of lines: a function, and its file and line; the innermost inlined function first.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from heapwright.artefacts.profile.calls import Function
from heapwright.profile.symbols import inlined
from heapwright.profile.symbols.tools import answer_of

PROGRAM = "addr2line"
PATIENCE_S = 120
UNKNOWN = "??"
NO_FILE = ":?"
"""The place of a function whose unit of debug information names no file."""


def has_lines(path: Path) -> bool:
    """Whether a file has what addr2line reads."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            return any(
                elf.get_section_by_name(name) is not None
                for name in (".debug_line", ".zdebug_line")
            )
    except (OSError, ELFError, ValueError):
        return False


def places(path: Path, addresses: Sequence[int]) -> dict[int, tuple[Function, ...]]:
    """For each address its functions, outermost first, then those inlined; unknown ones missing."""
    if not addresses or not has_lines(path):
        return {}
    asked = "".join(f"{address:#x}\n" for address in addresses)
    answer = answer_of(PROGRAM, ("-a", "-f", "-i", "-e", str(path)), asked, PATIENCE_S)
    found = dict(parsed(answer))
    doubted = [at for at, each in found.items() if len(each) > 1 and each[0].name in each[-1].name]
    for address, name in inlined.names(path, doubted).items():
        *outer, innermost = found[address]
        found[address] = (*outer, innermost.model_copy(update={"name": name}))
    return found


def parsed(text: str) -> Iterator[tuple[int, tuple[Function, ...]]]:
    """The answers of addr2line -a -f -i."""
    address: int | None = None
    pairs: list[str] = []
    for line in [*text.splitlines(), "0x0"]:
        if line.startswith("0x") and len(pairs) % 2 == 0:
            functions = _functions(pairs)
            if address is not None and functions:
                yield address, functions
            address, pairs = int(line, 16), []
        else:
            pairs.append(line)


def _functions(pairs: Sequence[str]) -> tuple[Function, ...]:
    functions = [
        Function(name=name, file=file if file not in (UNKNOWN, NO_FILE) else "", line=line)
        for name, place in zip(pairs[::2], pairs[1::2], strict=False)
        if name != UNKNOWN
        for file, line in [_place(place)]
    ]
    return tuple(reversed(functions))


def _place(text: str) -> tuple[str, int]:
    file, _, rest = text.rpartition(":")
    number = rest.split(" ")[0]
    return (file, int(number)) if number.isdigit() else (file or text, 0)
