# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Files of massif, valgrind's heap profiler: live bytes at snapshots, with stacks at some of them.

A file has a head (`desc`, `cmd`, `time_unit`) and snapshots. A detailed snapshot has a tree of
calls. A line of the tree has its depth as spaces, the number of its children, bytes, and a place.
The tree of the peak is read. massif does not count blocks. Small calls are one line without names.

Source: "Massif's output file format" in the manual of massif.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from heapwright.artefacts.profile.calls import Function
from heapwright.artefacts.stacks.profile import Amount, Moment, StackProfile
from heapwright.artefacts.stacks.text import Lines
from heapwright.artefacts.stacks.tree import Place, TreeBuilder

SOURCE = "massif"
OPENING = b"desc: "
NODE = re.compile(r"^(?P<depth> *)n(?P<children>\d+): (?P<bytes>\d+) (?P<what>.*)$")
CALL = re.compile(r"^(?P<address>0x[0-9A-Fa-f]{1,16}): (?P<name>.*)$")
IN_FILE = re.compile(r"^(?P<name>.*) \((?P<file>[^()]*):(?P<line>\d+)\)$")
IN_OBJECT = re.compile(r"^(?P<name>.*) \(in (?P<path>.*)\)$")
UNKNOWN = "???"
SMALL = "callers below massif's threshold"
TREES = ("empty", "detailed", "peak")
UNITS = {"i": (1.0, "instructions"), "ms": (1000.0, "s"), "B": (1.0, "bytes allocated and freed")}
FIELDS = ("time", "mem_heap_B", "mem_heap_extra_B", "mem_stacks_B", "heap_tree")
BELOW = " below massif's threshold"
DEEPEST = 10_000


@dataclass(slots=True)
class _Snapshot:
    time: int
    heap: int
    extra: int
    stacks: int
    tree: TreeBuilder | None = None
    is_peak: bool = False


class _Reader:
    """Reads one file."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.feed = iter(lines)

    def profile(self) -> StackProfile:
        head = {name: self._field(name) for name in ("desc", "cmd", "time_unit")}
        if head["time_unit"] not in UNITS:
            raise self.lines.fault("an unknown unit of time")
        snapshots: list[_Snapshot] = []
        for line in self.feed:
            if line.startswith("#") or not line:
                continue
            if line != f"snapshot={len(snapshots)}":
                raise self.lines.fault(f"snapshot={len(snapshots)} is expected")
            snapshots.append(self._snapshot())
        detailed = [each for each in snapshots if each.tree is not None]
        if not detailed:
            raise self.lines.cut("without a snapshot that has call stacks")
        peak = next(
            (each for each in detailed if each.is_peak), max(detailed, key=lambda each: each.heap)
        )
        return self._of(head, snapshots, peak)

    def _of(
        self, head: dict[str, str], snapshots: list[_Snapshot], peak: _Snapshot
    ) -> StackProfile:
        assert peak.tree is not None
        divisor, unit = UNITS[head["time_unit"]]
        calls = peak.tree.calls()
        notes = []
        if peak.extra:
            notes.append(
                f"The allocator's own {peak.extra:,} bytes at the peak are not included "
                "(mem_heap_extra_B)"
            )
        if peak.stacks:
            notes.append(f"The {peak.stacks:,} bytes of thread stacks are not included")
        if calls.nodes[0].at_peak_bytes != peak.heap:
            notes.append(f"The snapshot states {peak.heap:,} bytes, which its stacks do not add to")
        if not peak.is_peak:
            notes.append("No snapshot is marked as the peak: the largest with stacks is shown")
        return StackProfile(
            source=SOURCE,
            calls=calls,
            known=frozenset({Amount.AT_PEAK_BYTES}),
            command=tuple(head["cmd"].split()),
            duration_s=snapshots[-1].time / divisor if unit == "s" else 0.0,
            peak_s=peak.time / divisor if unit == "s" else None,
            timeline=tuple(Moment(each.time / divisor, each.heap) for each in snapshots),
            time_unit=unit,
            notes=tuple(notes),
        )

    def _field(self, name: str, separator: str = ": ") -> str:
        line = next(self.feed, None)
        if line is None:
            raise self.lines.cut(f"before {name}")
        found, given, value = (line + " ").partition(separator)
        if found != name or not given:
            raise self.lines.fault(f"{name} is expected")
        return value.strip()

    def _snapshot(self) -> _Snapshot:
        next(self.feed, None)  # a line of dashes
        texts = {name: self._field(name, "=") for name in FIELDS}
        time, heap, extra, stacks = (self.lines.count(texts[name]) for name in FIELDS[:4])
        if texts["heap_tree"] not in TREES:
            raise self.lines.fault("an unknown kind of tree")
        found = _Snapshot(time, heap, extra, stacks, is_peak=texts["heap_tree"] == "peak")
        if texts["heap_tree"] != "empty":
            found.tree = self._tree()
        return found

    def _tree(self) -> TreeBuilder:
        """The lines of one tree, from the allocation outwards. Each says how many children
        follow."""
        builder = TreeBuilder()
        path: list[_Open] = []
        while True:
            line = next(self.feed, None)
            if line is None:
                raise self.lines.cut("within a tree of calls")
            match = NODE.match(line)
            if match is None:
                raise self.lines.fault("a line of a tree is expected")
            if len(match["depth"]) != len(path) or len(path) > DEEPEST:
                raise self.lines.fault("the line has a wrong depth")
            amount = self.lines.count(match["bytes"])
            if path:
                path[-1].children -= 1
                path[-1].own -= amount
                if path[-1].own < 0:
                    raise self.lines.fault("callers have more bytes than their callee")
            place = _place(match["what"]) if path else Place()
            path.append(_Open(place, self.lines.count(match["children"]), amount))
            while path and path[-1].children == 0:
                if path[-1].own:
                    outermost_first = [each.place for each in reversed(path[1:])]
                    own = {Amount.AT_PEAK_BYTES: path[-1].own}
                    builder.add(builder.stack(outermost_first), own)
                path.pop()
            if not path:
                return builder


@dataclass(slots=True)
class _Open:
    """A line of a tree."""

    place: Place
    children: int
    """Those that are still missing."""
    own: int
    """Bytes in none of them."""


@lru_cache(maxsize=1 << 16)
def _place(what: str) -> Place:
    match = CALL.match(what)
    if match is None:
        return Place((Function(name=SMALL if BELOW in what else what),))
    name, address = match["name"], int(match["address"], 16)
    if found := IN_FILE.match(name):
        line = int(found["line"][:9])
        return Place((Function(name=found["name"], file=found["file"], line=line),), address)
    if found := IN_OBJECT.match(name):
        path = found["path"].rpartition("/")[2]
        return Place((Function(name=path if found["name"] == UNKNOWN else found["name"]),), address)
    return Place((Function(name=name),), address)


def read_massif(lines: Lines) -> StackProfile:
    """The live memory at the peak. Raises HeapwrightError."""
    return _Reader(lines).profile()
