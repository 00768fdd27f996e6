# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Holds a study against this machine: processors, and the allocators that its levels name.

What is not usable here is dropped with its reason, whether it is not installed or not built. A name
that nobody knows is a mistake in the file, and is said with its line.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from heapwright.artefacts.run.provenance import Allocator
from heapwright.artefacts.study.file import StudyFile
from heapwright.base.errors import HeapwrightError
from heapwright.base.problems import Problem
from heapwright.experiment.discovery import Discovery
from heapwright.experiment.treatments import Request, parse_requests
from heapwright.study.design import Machine, allocators_of


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


def look_up(file: StudyFile, discovery: Discovery) -> Found:
    """Look for the study's allocators. Raises HeapwrightError for all levels that name none."""
    requests: dict[str, Request] = {}
    unknown: dict[str, str] = {}
    problems: list[Problem] = []
    for wanted in allocators_of(file):
        try:
            (requests[wanted.allocator],) = parse_requests([wanted.allocator], discovery.names)
        except HeapwrightError as error:
            if not wanted.missing:
                problems.append(Problem(wanted.keys, error.message, error.hint))
            unknown[wanted.allocator] = f"not there: {wanted.missing}"
        except ValueError:  # a comma: several were found in it
            problems.append(Problem(wanted.keys, "a level names one allocator"))
    if problems:
        raise file.error_of(problems)
    found = discovery.look_up(requests.values())
    return Found(dict(zip(requests, found, strict=True)), unknown)
