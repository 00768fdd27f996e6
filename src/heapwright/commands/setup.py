# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Checks before the first run: allocators, treatments, and a command that can run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import DEFAULT
from heapwright.artefacts.allocator.user_registry import built_peers, read_registry, user_allocators
from heapwright.artefacts.run.provenance import Allocator, by_reason, inherited_settings
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.command_check import check_command, machine_of
from heapwright.experiment.discovery import Discovery
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.probe import Prober
from heapwright.experiment.treatments import (
    Request,
    Treatment,
    explain_inherited,
    make_treatments,
    parse_requests,
    parse_setting,
    plain_treatment,
)


@contextmanager
def discovering(
    environment: Mapping[str, str], paths: PreloadPaths | None = None
) -> Iterator[Discovery]:
    """A discovery of the allocators on this machine."""
    folder = native.native_dir()
    with PreloadPaths() as own:
        prober = Prober(native.program("probe"), paths or own, environment)
        registry = read_registry(folder, user_allocators(environment))
        yield Discovery(registry, folder / "lib", prober, built_peers(environment))


@dataclass(frozen=True, slots=True)
class Selection:
    """The treatments to compare, and notes for the user."""

    allocators: tuple[Allocator, ...]
    treatments: tuple[Treatment, ...]
    """The baseline's first."""
    notes: tuple[str, ...]


def select(
    names: Sequence[str],
    settings: Sequence[str],
    baseline: str,
    environment: Mapping[str, str],
    paths: PreloadPaths,
    *,
    fewest: int = 2,
) -> Selection:
    """The treatments of `-a`, `--set` and `--baseline`; without `-a`, the default.

    A named allocator must be usable. A group means its usable members. Raises HeapwrightError for
    less than `fewest` treatments.
    """
    parsed = [parse_setting(text) for text in settings]
    notes = []
    with discovering(environment, paths) as discovery:
        known = (*discovery.names, *discovery.groups)
        asked = parse_requests(names or (DEFAULT,), known)
        requests = [each for each in asked if each.library or each.name not in discovery.groups]
        base = _base(baseline, requests, discovery)
        allocators = discovery.requested(list(dict.fromkeys([*requests, base])))
        groups = [each.name for each in asked if each not in requests]
        members = [each for group in groups for each in discovery.members(group)]
        notes += _left_out([each for each in members if not each.usable])
        taken = {each.name for each in allocators}
        for member in members:
            if member.usable and member.name not in taken:
                allocators.append(member)
                taken.add(member.name)
    notes += [f"{each.name}: {each.reason}" for each in allocators if each.reason]
    treatments = make_treatments(
        allocators, parsed, inherited=environment, baseline=base.name, fewest=fewest
    )
    notes += explain_inherited(inherited_settings(dict(environment)))
    return Selection(tuple(allocators), tuple(treatments), tuple(notes))


def select_one(name: str, environment: Mapping[str, str], paths: PreloadPaths) -> Selection:
    """A single allocator, without a comparison."""
    with discovering(environment, paths) as discovery:
        requests = parse_requests([name], discovery.names)
        if len(requests) != 1:
            raise HeapwrightError(f"{name} names more than one allocator")
        (allocator,) = discovery.requested(requests)
    notes = [f"{allocator.name}: {allocator.reason}"] if allocator.reason else []
    notes += explain_inherited(inherited_settings(dict(environment)))
    return Selection((allocator,), (plain_treatment(allocator, environment),), tuple(notes))


def _left_out(allocators: Iterable[Allocator]) -> list[str]:
    return [
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} left out: {reason}"
        for names, reason in by_reason(allocators)
    ]


def _base(baseline: str, requests: Sequence[Request], discovery: Discovery) -> Request:
    """What `--baseline` names: one of `requests`, by its name or library, else an allocator."""
    if named := [each for each in requests if each.name == baseline]:
        return named[0]
    known = dict.fromkeys([*(each.name for each in requests), *discovery.names])
    parsed = parse_requests([baseline], list(known))
    if len(parsed) != 1:
        raise HeapwrightError(f"--baseline {baseline} names more than one allocator")
    (base,) = parsed
    return next((each for each in requests if base.name == each.name or _same(base, each)), base)


def _same(one: Request, other: Request) -> bool:
    """Whether both name the same library, if by different names."""
    return one.library is not None and one.library == other.library


def check(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], *, shell: bool
) -> tuple[str, ...]:
    """Refuse a command that no preload reaches; the warnings about one that it does reach."""
    machine = machine_of(native.witness())
    checked = check_command(command, machine=machine, cwd=cwd, environment=environment, shell=shell)
    return checked.warnings
