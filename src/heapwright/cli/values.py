# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Values as people write them on a command line: 3%, 512M, 0-3,8.

Each function reads one form and raises `typer.BadParameter` with what it expected.
"""

import re

from typer import BadParameter

from heapwright.base.processors import format_cpus

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
LARGEST_SIZE = 2**62
"""Of bytes: more than any address space."""
LARGEST_NUMBER = 2**31 - 1
LARGEST_MEAN = 2**50
SIZE = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?) ?(?P<unit>[KMGT]?)(I?B)?", re.IGNORECASE)
COUNT = re.compile(r"(?P<digits>[0-9][0-9_]{0,30})(e\+?(?P<exponent>[0-9]{1,2}))?", re.IGNORECASE)
FRACTION = re.compile(r"(?P<number>[0-9]*\.?[0-9]+) ?(?P<percent>%?)")
CPU_RANGE = re.compile(r"(?P<first>[0-9]{1,5})(-(?P<last>[0-9]{1,5}))?")


def parse_fraction(text: str, option: str = "") -> float:
    """`3%`, `3 %` or `0.03`: a fraction greater than 0 and less than 1. A refusal names the
    option."""
    where = f"{option}: " if option else ""
    match = FRACTION.fullmatch(text.strip())
    if match is None:
        raise BadParameter(f"{where}{text!r} is no fraction; write 3% or 0.03")
    value = float(match["number"]) / (100 if match["percent"] else 1)
    if not 0 < value < 1:
        raise BadParameter(f"{where}{text!r} is not between 0 % and 100 %; write 3% or 0.03")
    return value


def parse_margin(text: str, option: str = "--margin") -> float:
    """A fraction as above, or zero. With zero, every real difference matters."""
    return 0.0 if text.strip() in ("0", "0%", "0 %") else parse_fraction(text, option)


def parse_size(text: str) -> int:
    """`512M`, `1.5G`, `100000`: bytes, the units in powers of 1024."""
    match = SIZE.fullmatch(text.strip())
    if match is None:
        raise BadParameter(f"{text!r} is no size; write 512M or 1.5G")
    size = float(match["number"]) * UNITS[match["unit"].upper()]
    if not 1 <= size <= LARGEST_SIZE:
        raise BadParameter(f"{text!r} is not between 1 byte and {LARGEST_SIZE >> 40:,} T")
    return int(size)


def parse_allowance(text: str) -> int:
    """A size as above, or zero: `200M`, `0`."""
    return 0 if text.strip() == "0" else parse_size(text)


def parse_count(text: str) -> int:
    """`1000000`, `1_000_000` or `1e6`: a whole number of things, zero included."""
    match = COUNT.fullmatch(text.strip())
    if match is None:
        raise BadParameter(f"{text!r} is no count; write 1000000 or 1e6")
    digits, exponent = match["digits"].replace("_", ""), int(match["exponent"] or 0)
    count = int(digits + "0" * exponent)
    if count > LARGEST_SIZE:
        raise BadParameter(f"{text!r} is more than {LARGEST_SIZE:,}")
    return count


def parse_sampling(text: str) -> tuple[int, int | None]:
    """`100`: one block in 100. `512K`: one byte in 512 KiB. Blocks, and bytes if they are meant."""
    if text.strip().isdecimal():
        blocks = parse_count(text)
        if not 1 <= blocks <= LARGEST_NUMBER:
            raise BadParameter(f"{text!r} is not between 1 and {LARGEST_NUMBER:,}")
        return blocks, None
    if SIZE.fullmatch(text.strip()) is None:
        raise BadParameter(f"{text!r} is no number of blocks, nor a size; write 100 or 512K")
    mean = parse_size(text)
    if mean > LARGEST_MEAN:
        raise BadParameter(f"{text!r} is more than {LARGEST_MEAN >> 40:,} T")
    return 1, mean


def parse_cpus(text: str, allowed: set[int]) -> tuple[int, ...]:
    """`0-3,8`: processors, each of which must be among `allowed`."""
    cpus: set[int] = set()
    for piece in text.split(","):
        match = CPU_RANGE.fullmatch(piece.strip())
        if match is None:
            raise BadParameter(f"{text!r} is no list of processors; write 0-3,8")
        first = int(match["first"])
        last = int(match["last"] or first)
        if last < first:
            raise BadParameter(f"{piece.strip()!r} runs backwards")
        cpus.update(range(first, last + 1))
    missing = sorted(cpus - allowed)
    if missing:
        raise BadParameter(
            f"processor {missing[0]} is not available; there are {format_cpus(allowed)}"
        )
    return tuple(sorted(cpus))
