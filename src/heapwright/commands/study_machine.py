# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Holds a study against this machine: processors, and the allocators that its levels name.

What is not usable here is dropped with its reason, whether it is not installed or not built. A name
that nobody knows is a mistake in the file, and is said with its line.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from heapwright.artefacts.run.provenance import Allocator
from heapwright.artefacts.study.file import StudyError, StudyFile
from heapwright.base.errors import HeapwrightError
from heapwright.base.problems import Problem
from heapwright.commands.setup import discovering
from heapwright.experiment.discovery import Discovery
from heapwright.experiment.treatments import Request, parse_requests
from heapwright.study.design import Machine, allocators_of
from heapwright.study.library import open_study


@dataclass(frozen=True, slots=True)
class Found:
    """What a study's allocators are on this machine, by what treatments call them."""

    allocators: Mapping[str, Allocator]
    """Usable or not."""
    unknown: Mapping[str, str]
    """Those that nobody knows, though the study says how to come by them."""

    @property
    def machine(self) -> Machine:
        """This machine, as far as levels depend on it."""
        unusable = {
            name: each.reason or "it is not usable"
            for name, each in self.allocators.items()
            if not each.usable
        }
        return Machine(len(os.sched_getaffinity(0)), {**self.unknown, **unusable})


def open_with_allocators(name: str, scale: str | None = None) -> StudyFile:
    """Read a study that is named as a user names it. Raises HeapwrightError.

    If the file is wrong, the allocators that it names are looked up all the same: the error then
    has the unknown ones too.
    """
    try:
        return open_study(name, scale)
    except StudyError as error:
        if error.file is None:
            raise
        problems: list[Problem] = []
        with suppress(HeapwrightError), discovering(os.environ) as discovery:
            problems = _named(error.file, discovery).problems
        raise error.file.error_of([*error.problems, *problems]) from None


def look_up(file: StudyFile, discovery: Discovery) -> Found:
    """Look for the study's allocators. Raises HeapwrightError for all levels that name none."""
    named = _named(file, discovery)
    if named.problems:
        raise file.error_of(named.problems)
    found = discovery.look_up(named.requests.values())
    return Found(dict(zip(named.requests, found, strict=True)), named.unknown)


@dataclass(frozen=True, slots=True)
class _Named:
    """The allocators that the levels name."""

    requests: dict[str, Request] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def _named(file: StudyFile, discovery: Discovery) -> _Named:
    named = _Named()
    for wanted in allocators_of(file):
        try:
            (request,) = parse_requests([wanted.allocator], discovery.names)
        except HeapwrightError as error:
            if not wanted.missing:
                named.problems.append(Problem(wanted.keys, error.message, error.hint))
            named.unknown[wanted.allocator] = f"not there: {wanted.missing}"
        except ValueError:  # a comma: several were found in it
            named.problems.append(Problem(wanted.keys, "a level names one allocator"))
        else:
            named.requests[wanted.allocator] = request
    return named
