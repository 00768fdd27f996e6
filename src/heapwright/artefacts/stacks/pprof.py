# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Heap profiles in the format of pprof, as Go, TCMalloc and others write them.

The file is one message `Profile`, usually compressed. A sample has locations, innermost first, and
one value for each sample type. A location has lines, the innermost inlined function first. The
program that writes it has scaled sampled amounts.

Source: the message `Profile` of the pprof project, whose field numbers are below.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from heapwright.artefacts.profile.calls import CodeObject, Function
from heapwright.artefacts.stacks.profile import Amount, StackProfile
from heapwright.artefacts.stacks.text import LARGEST, damaged
from heapwright.artefacts.stacks.tree import NO_FILE, Place, TreeBuilder
from heapwright.base.errors import HeapwrightError
from heapwright.base.protobuf import BadMessageError, fields_of, packed_integers

SOURCE = "pprof"
SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = 1, 2, 3, 4, 5, 6
TIME, DURATION, PERIOD_TYPE, PERIOD, COMMENT = 9, 10, 11, 12, 13
AMOUNTS = {
    "alloc_objects": Amount.ALLOCATIONS,
    "alloc_space": Amount.BYTES,
    "peak_objects": Amount.AT_PEAK,
    "peak_space": Amount.AT_PEAK_BYTES,
    "inuse_objects": Amount.KEPT,
    "inuse_space": Amount.KEPT_BYTES,
    "objects": Amount.KEPT,
    "space": Amount.KEPT_BYTES,
}
"""What a sample type means; TCMalloc writes the last two."""
SIGNED = 1 << 63
Fields = dict[int, list[int | bytes]]


def _fields(content: int | bytes) -> Fields:
    found: Fields = {}
    if isinstance(content, int):
        raise BadMessageError("an integer stands for a message")
    for field, value in fields_of(content):
        found.setdefault(field, []).append(value)
    return found


def _integer(fields: Fields, field: int) -> int:
    value = fields.get(field, [0])[-1]
    if not isinstance(value, int):
        raise BadMessageError(f"field {field} is no integer")
    return value


def _integers(fields: Fields, field: int) -> Iterator[int]:
    for value in fields.get(field, ()):
        yield from packed_integers(value)


class _Reader:
    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.whole = _fields(content)
        self.strings = [
            each.decode("utf-8", "replace") if isinstance(each, bytes) else ""
            for each in self.whole.get(STRING, ())
        ]
        self.builder = TreeBuilder()

    def profile(self) -> StackProfile:
        amounts = self._amounts()
        places = self._places()
        for content in self.whole.get(SAMPLE, ()):
            sample = _fields(content)
            values = list(_integers(sample, 2))
            if len(values) != len(amounts):
                raise BadMessageError("a sample has another number of values")
            stack = [places[each] for each in _integers(sample, 1)]
            self.builder.add(
                self.builder.stack(stack[::-1]),
                {
                    amount: self._amount(value)
                    for amount, value in zip(amounts, values, strict=True)
                    if amount is not None
                },
            )
        known = frozenset(each for each in amounts if each is not None)
        comments = (self._text(each) for each in _integers(self.whole, COMMENT))
        return StackProfile(
            source=SOURCE,
            calls=self.builder.calls(),
            known=known,
            at_end=False,
            command=tuple(next(comments, "").split()),
            began=self._began(),
            duration_s=_integer(self.whole, DURATION) % SIGNED / 1e9,
            sampling=self._sampling(),
        )

    def _amounts(self) -> list[Amount | None]:
        """What each value of a sample is. Of two with one meaning the first counts."""
        kinds = [self._kind(each) for each in self.whole.get(SAMPLE_TYPE, ())]
        found: list[Amount | None] = []
        for name, unit in kinds:
            amount = AMOUNTS.get(name) if unit in ("bytes", "count") else None
            found.append(None if amount in found else amount)
        memory = {Amount.BYTES, Amount.AT_PEAK_BYTES, Amount.KEPT_BYTES}
        if not memory.intersection(found):
            names = ", ".join(name for name, _ in kinds) or "nothing"
            raise HeapwrightError(
                f"{self.name} is no heap profile: its samples have {names}",
                "write a profile of the heap, as /debug/pprof/heap of a Go program",
            )
        return found

    def _kind(self, content: int | bytes) -> tuple[str, str]:
        fields = _fields(content)
        return self._text(_integer(fields, 1)), self._text(_integer(fields, 2))

    def _places(self) -> dict[int, Place]:
        functions = {}
        for content in self.whole.get(FUNCTION, ()):
            fields = _fields(content)
            name = self._text(_integer(fields, 2)) or self._text(_integer(fields, 3))
            functions[_integer(fields, 1)] = name, self._text(_integer(fields, 4))
        mappings = {}
        for content in self.whole.get(MAPPING, ()):
            fields = _fields(content)
            begin, offset = _integer(fields, 2), _integer(fields, 4)
            path = self._text(_integer(fields, 5))
            build = self._text(_integer(fields, 6))
            if path:
                code = self.builder.object(CodeObject(path=path, build_id=build))
                mappings[_integer(fields, 1)] = code, begin - offset
        found = {}
        for content in self.whole.get(LOCATION, ()):
            fields = _fields(content)
            lines = []
            for line in fields.get(4, ()):
                of_line = _fields(line)
                name, file = functions[_integer(of_line, 1)]
                lines.append(
                    Function(name=name, file=file, line=max(_integer(of_line, 2) % SIGNED, 0))
                )
            code, begin = mappings.get(_integer(fields, 2), (NO_FILE, 0))
            address = max(_integer(fields, 3) - begin, 0)
            found[_integer(fields, 1)] = Place(tuple(reversed(lines)), address, code)
        return found

    def _amount(self, value: int) -> int:
        if value >= SIGNED:
            raise HeapwrightError(
                f"{self.name} has negative amounts, as a difference of two profiles has",
                "name one profile",
            )
        if value >= LARGEST:
            raise BadMessageError(f"the amount {value:,} is too large")
        return value

    def _text(self, number: int) -> str:
        return self.strings[number]

    def _began(self) -> str:
        seconds = _integer(self.whole, TIME) // 10**9
        if not 0 < seconds < 1 << 37:
            return ""
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")

    def _sampling(self) -> str:
        period = _integer(self.whole, PERIOD)
        if period <= 1:
            return ""
        return f"one byte in {period:,} was sampled; the program that wrote the file scaled it"


def read_pprof(name: str, content: bytes) -> StackProfile:
    """The amounts of all call stacks. Raises HeapwrightError."""
    try:
        return _Reader(name, content).profile()
    except BadMessageError as error:
        raise damaged(name, f"as a profile of pprof, {error}") from error
    except (KeyError, IndexError) as error:
        raise damaged(
            name, "as a profile of pprof, it names an entry of a table that is not there"
        ) from error
