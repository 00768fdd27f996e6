# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Documents of the libraries that sample: sampled blocks by stack, label and size.

native/sampler/document.cpp describes the lines. A label becomes the outermost call of its stacks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from heapwright.artefacts.profile.calls import Function
from heapwright.artefacts.stacks.intervals import estimate
from heapwright.artefacts.stacks.mappings import HEADING, Mappings, read_mappings
from heapwright.artefacts.stacks.profile import Amount, StackProfile
from heapwright.artefacts.stacks.text import Lines
from heapwright.artefacts.stacks.tree import Place, TreeBuilder
from heapwright.base.quantities import size

SOURCE = "heapwright samples"
OPENING = b"heapwright samples "
VERSION = "1"
REASONS = ("exit", "signal", "interval", "threshold")
OWN_LIBRARIES = ("libheapwright-sampler", "libheapwright-granary-sampled")
"""Their names begin like this."""
CUT = 1
"""The address in place of the outer calls of a stack that is too deep."""
AMOUNTS = (
    (Amount.KEPT_BYTES, Amount.KEPT),
    (Amount.BYTES, Amount.ALLOCATIONS),
    (Amount.AT_PEAK_BYTES, Amount.AT_PEAK),
)
"""What a line counts behind the size."""
Counts = list[tuple[int, ...]]
"""Of each size: the size, then the numbers of samples in the order of AMOUNTS."""


@dataclass(slots=True)
class _Head:
    """The first lines."""

    mean: int = 0
    program: str = ""
    reason: str = ""
    lost: int = 0
    labels: dict[int, str] = field(default_factory=dict)


def read_samples(lines: Lines) -> StackProfile:
    """The estimated amounts of each stack. Raises HeapwrightError."""
    feed = iter(lines)
    opening = next(feed, "")
    if opening != f"{OPENING.decode()}{VERSION}":
        raise lines.fault("an unknown version", "use the heapwright that wrote it, or a newer one")
    head = _Head()
    stacks = list(_stacks(lines, feed, head))
    mappings = read_mappings(lines)
    if not head.mean or head.reason not in REASONS:
        raise lines.fault("the file has no complete head")
    builder = TreeBuilder()
    variances: dict[Amount, dict[int, float]] = {pair[0]: {} for pair in AMOUNTS}
    for label, addresses, counts in stacks:
        places = _places(builder, mappings, addresses)
        if label:
            places.insert(0, Place(functions=(Function(name=f"[{head.labels[label]}]"),)))
        number = builder.stack(places)
        for column, (of_bytes, of_blocks) in enumerate(AMOUNTS, 1):
            found = estimate([(each[0], each[column]) for each in counts], head.mean)
            builder.add(number, {of_bytes: round(found.bytes), of_blocks: round(found.blocks)})
            known = variances[of_bytes]
            known[number] = known.get(number, 0.0) + found.variance
    return StackProfile(
        source=SOURCE,
        calls=builder.calls(),
        known=frozenset(Amount),
        at_end=head.reason == "exit",
        command=(head.program,) if head.program else (),
        sampling=f"one byte in {head.mean:,} was sampled on average; amounts are estimates with "
        "95 % intervals",
        notes=tuple(_notes(head, stacks)),
        variances=variances,
    )


def _notes(head: _Head, stacks: list[tuple[int, list[int], Counts]]) -> Iterator[str]:
    if not stacks:
        yield (
            f"No sample was taken: the process requested little more than {size(head.mean)}. "
            "A smaller --sample takes more samples"
        )
    if head.lost:
        were = "sample has" if head.lost == 1 else "samples have"
        yield (
            f"{head.lost:,} {were} no room in the sampler's tables, so amounts "
            "are too small. A larger --sample takes fewer samples"
        )


def _places(builder: TreeBuilder, mappings: Mappings, addresses: list[int]) -> list[Place]:
    """A stack, outermost first, without the library's own functions."""
    is_cut = addresses[-1:] == [CUT]
    kept = [each for each in addresses if each != CUT and not _is_own(mappings, each)]
    found = mappings.stack(builder, kept)
    return (
        [Place(functions=(Function(name="(outer calls left out)"),)), *found] if is_cut else found
    )


def _is_own(mappings: Mappings, address: int) -> bool:
    mapping = mappings.at(max(address - 1, 0))
    return mapping is not None and PurePosixPath(mapping.path).name.startswith(OWN_LIBRARIES)


def _stacks(
    lines: Lines, feed: Iterator[str], head: _Head
) -> Iterator[tuple[int, list[int], Counts]]:
    """The stacks up to the heading of the mappings. Fills in the head, which comes before."""
    stack: tuple[int, list[int], Counts] | None = None
    for line in feed:
        if line.startswith(" "):
            if stack is None:
                raise lines.fault("amounts without a stack")
            stack[2].append(_counts(lines, line))
            continue
        if stack is not None:
            if not stack[2]:
                raise lines.fault("the stack before has no amounts")
            yield stack
            stack = None
        if line == HEADING:
            return
        if line.startswith("@ "):
            words = line.split()
            label = lines.count(words[1]) if len(words) > 1 else 0
            if label and label not in head.labels:
                raise lines.fault("its label is unknown")
            stack = (label, [lines.address(each) for each in words[2:]], [])
        else:
            _read_head(lines, line, head)
    raise lines.cut("before its mappings")


def _counts(lines: Lines, line: str) -> tuple[int, ...]:
    found = tuple(lines.count(each) for each in line.split())
    if len(found) != 1 + len(AMOUNTS) or not found[0]:
        raise lines.fault("expected a size and three numbers of samples")
    return found


def _read_head(lines: Lines, line: str, head: _Head) -> None:
    key, _, value = line.partition(" ")
    match key:
        case "mean":
            head.mean = lines.count(value)
        case "process":
            lines.count(value)
        case "program":
            head.program = value
        case "reason":
            head.reason = value
        case "lost":
            head.lost = lines.count(value)
        case "label":
            number, _, text = value.partition(" ")
            head.labels[lines.count(number)] = text
        case _:
            raise lines.fault("an unknown kind of line")
