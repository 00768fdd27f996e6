# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The compared treatments: allocators, each at its plain level and at every level of `--set`.

A treatment is an allocator, a level (the text of its setting, "" for none) and the variables that
are set for it. Its key (allocator, level) is unique. Every treatment keeps the user's own
environment. If both set a variable such as GLIBC_TUNABLES, the values are merged. Those of the
treatment come last, because the last one counts.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from heapwright.artefacts.run.provenance import Allocator
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_file

SETTING = re.compile(r"(?P<name>.+?):(?P<variable>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*)", re.DOTALL)
LIBRARY = re.compile(r".*\.so(\.[0-9]+)*")
TUNABLES = "GLIBC_TUNABLES"


@dataclass(frozen=True, slots=True)
class Request:
    """One item of `-a`: a name of the registry, or a library by its path or soname."""

    name: str
    library: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One `--set`: a variable that makes a further level of an allocator."""

    allocator: str
    variable: str
    value: str

    @property
    def level(self) -> str:
        return f"{self.variable}={self.value}"


@dataclass(frozen=True, slots=True)
class Treatment:
    """An allocator at one level, as it runs under the command.

    In a study the level stands for the levels of all factors, and the treatment has a command of
    its own.
    """

    allocator: Allocator
    level: str = ""
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    command: tuple[str, ...] = ()
    """Empty: that of the experiment."""
    prefix: tuple[str, ...] = ()
    """Words before the command: another loader, a wrapper."""
    cpus: str | None = None
    """Processors that it is confined to; None: those of the experiment."""
    stdin: Path | None = None
    cwd: Path | None = None
    levels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Of each factor of a study, by name."""
    proven: bool = True
    """False: the program contains its malloc, so nothing is preloaded or proven."""

    @property
    def key(self) -> tuple[str, str]:
        return (self.allocator.name, self.level)

    @property
    def preload(self) -> Path | None:
        return Path(self.allocator.path) if self.allocator.path and self.proven else None


def parse_requests(texts: Iterable[str], known: Sequence[str]) -> list[Request]:
    """Read the values of `-a`: names, paths and name=path, separated by commas.

    `known` are the names of the registry. The same item twice counts once. Libraries with equal
    file names also get the needed part of their folders.
    """
    items: list[str] = []
    for text in texts:
        pieces = [text] if is_file(Path(text)) else text.split(",")
        items += [piece.strip() for piece in pieces if piece.strip()]
    if not items:
        raise HeapwrightError("no allocator is named", "see `heapwright allocators`")
    items = list(dict.fromkeys(items))
    unnamed = [item for item in items if item not in known and _is_library(item)]
    short = _distinct_names(unnamed)
    requests = [_request(item, short, known) for item in items]
    for request in requests:
        same = [other for other in requests if other.name == request.name]
        if len(same) > 1:
            libraries = " and ".join(other.library or "the registry" for other in same)
            raise HeapwrightError(
                f"two allocators are called {request.name!r}: {libraries}",
                "give one of them another name: other=path/to/library.so",
            )
    return requests


def _is_library(item: str) -> bool:
    return "=" not in item and ("/" in item or LIBRARY.fullmatch(item) is not None)


def _request(item: str, short: Mapping[str, str], known: Sequence[str]) -> Request:
    if item in known:
        return Request(item)
    name, separator, path = item.partition("=")
    if separator:
        if not name or not path or "/" in name or ":" in name:
            raise HeapwrightError(f"cannot read {item!r}", "write name=path/to/library.so")
        return Request(name, path)
    if item in short:
        return Request(short[item], item)
    raise HeapwrightError(f"unknown allocator {item!r}", _nearest(item, known))


def _nearest(name: str, known: Sequence[str]) -> str:
    """A hint with the known names that are most similar to `name`."""

    def likeness(other: str) -> float:
        return difflib.SequenceMatcher(None, name.lower(), other.lower()).ratio()

    best = max(map(likeness, known), default=0.0)
    near = [n for n in known if likeness(n) >= max(0.6, best - 0.1)]
    near += [n for n in known if n not in near and len(name) > 2 and name.lower() in n.lower()]
    listing = "`heapwright allocators` lists them; a library is named by its path"
    return f"did you mean {' or '.join(near)}? {listing}" if near else listing


def _distinct_names(paths: Sequence[str]) -> dict[str, str]:
    """The shortest ends of `paths`, in whole components, that differ from each other."""
    parts = {path: Path(path).parts for path in paths}
    names: dict[str, str] = {}
    for path, own in parts.items():
        others = [other for key, other in parts.items() if key != path]
        length = 1
        while length < len(own) and any(other[-length:] == own[-length:] for other in others):
            length += 1
        names[path] = str(Path(*own[-length:]))
    return names


def parse_setting(text: str) -> Setting:
    """Read `NAME:VARIABLE=VALUE`. The value is one level and is not split."""
    match = SETTING.fullmatch(text)
    if match is None:
        raise HeapwrightError(
            f"cannot read the setting {text!r}",
            "write ALLOCATOR:VARIABLE=VALUE, as in jemalloc:MALLOC_CONF=narenas:1",
        )
    setting = Setting(match["name"], match["variable"], match["value"])
    if setting.variable.startswith("LD_"):
        raise HeapwrightError(
            f"{setting.variable} controls the loader, not an allocator",
            "to compare another library name it: -a name=path/to/library.so",
        )
    return setting


def make_treatments(
    allocators: Sequence[Allocator],
    settings: Sequence[Setting],
    *,
    inherited: Mapping[str, str],
    baseline: str,
    fewest: int = 2,
) -> list[Treatment]:
    """All treatments, the baseline's first.

    `inherited` is the environment of the command without heapwright. `baseline` is the name of an
    allocator, at its plain level. Raises HeapwrightError, also for less than `fewest`.
    """
    names = [allocator.name for allocator in allocators]
    for setting in settings:
        if setting.allocator not in names:
            raise HeapwrightError(
                f"--set speaks of {setting.allocator!r}, which is not among those compared: "
                f"{', '.join(names)}",
                _nearest(setting.allocator, names),
            )
    if baseline not in names:
        raise HeapwrightError(
            f"the baseline {baseline!r} is not among those compared: {', '.join(names)}",
            f"add it to -a, or choose another with --baseline {names[0]}",
        )
    if len(set(settings)) < len(settings):
        raise HeapwrightError("the same --set is given twice")
    treatments = []
    for allocator in sorted(allocators, key=lambda each: each.name != baseline):
        treatments.append(plain_treatment(allocator, inherited))
        for setting in settings:
            if setting.allocator == allocator.name:
                own = _overlay(allocator.environment, setting)
                treatments.append(Treatment(allocator, setting.level, _merged(own, inherited)))
    if len(treatments) < fewest:
        raise HeapwrightError(
            f"only {treatments[0].allocator.name} is left: there is nothing to compare it with",
            "name another allocator with -a, or another level with --set",
        )
    return treatments


def plain_treatment(allocator: Allocator, inherited: Mapping[str, str]) -> Treatment:
    """An allocator at its plain level."""
    return Treatment(allocator, "", _merged(allocator.environment, inherited))


def one_treatment(
    allocator: Allocator, settings: Iterable[Setting], inherited: Mapping[str, str]
) -> Treatment:
    """An allocator with all of these settings at once."""
    own: Mapping[str, str] = allocator.environment
    for setting in settings:
        own = _overlay(own, setting)
    return Treatment(allocator, "", _merged(own, inherited))


def _overlay(environment: Mapping[str, str], setting: Setting) -> dict[str, str]:
    """An allocator's own variables with a setting over them."""
    value = setting.value
    if setting.variable == TUNABLES:
        value = merge_tunables(environment.get(TUNABLES, ""), value)
    return {**environment, setting.variable: value}


def _merged(environment: Mapping[str, str], inherited: Mapping[str, str]) -> Mapping[str, str]:
    merged = dict(environment)
    if TUNABLES in merged:
        merged[TUNABLES] = merge_tunables(inherited.get(TUNABLES, ""), merged[TUNABLES])
    return MappingProxyType(merged)


def merge_tunables(first: str, second: str) -> str:
    """Both lists of tunables in one; `second` wins for equal names."""
    merged: dict[str, str] = {}
    for item in (*first.split(":"), *second.split(":")):
        name, _, value = item.partition("=")
        if name:
            merged[name] = value
    return ":".join(f"{name}={value}" for name, value in merged.items())


def explain_inherited(inherited: Mapping[str, str]) -> list[str]:
    """Notes on the user's own variables that affect the result."""
    notes = []
    if preload := inherited.get("LD_PRELOAD"):
        notes.append(f"your own LD_PRELOAD stays in force, after each allocator: {preload}")
    if tunables := inherited.get(TUNABLES):
        notes.append(
            f"your own {TUNABLES} stays in force, merged with that of the treatment: {tunables}"
        )
    others = [
        f"{name}={value}"
        for name, value in inherited.items()
        if name not in ("LD_PRELOAD", TUNABLES, "LD_LIBRARY_PATH")
    ]
    if others:
        notes.append(f"your own settings stay in force for every allocator: {' '.join(others)}")
    return notes
