# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a study on this machine: processors, and the allocators that its levels name.

A level that is not usable here is dropped with its reason, for example an allocator that is not
installed. An unknown name is an error in the file, reported with its line.
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
    """The allocators of a study on this machine, by their names in treatments."""

    allocators: Mapping[str, Allocator]
    """Usable or not."""
    unknown: Mapping[str, str]
    """Unknown allocators for which the study has an installation hint."""

    @property
    def machine(self) -> Machine:
        """The properties of this machine on which levels depend."""
        unusable = {
            name: each.reason or "it is not usable"
            for name, each in self.allocators.items()
            if not each.usable
        }
        return Machine(len(os.sched_getaffinity(0)), {**self.unknown, **unusable})


def open_with_allocators(name: str, scale: str | None = None) -> StudyFile:
    """Read a study by its name or file. Raises HeapwrightError.

    Allocators are looked up even if the file has errors, so the error also lists unknown names.
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
    """Look up the study's allocators. Raises HeapwrightError that lists all unknown levels."""
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
