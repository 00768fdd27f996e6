# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A profile with call sites: main calls `grow` from two lines; `keep` is inlined into main."""

import pytest

from heapwright.artefacts.profile.calls import Call, Calls, CodeObject, Function
from heapwright.artefacts.profile.document import Profile, Provenance
from heapwright.artefacts.stacks.profile import StackProfile, of_profile
from support.documents import made


@pytest.fixture
def calls() -> Calls:
    return Calls(
        objects=(CodeObject(path="/lib/libx.so.1"), CodeObject(path="/usr/bin/program")),
        nodes=(
            Call(0, 0, 0, 1110, 111_100, 11, 1_100, 101, 10_100),
            Call(0, 1, 0x10, 1100, 110_000, 11, 1_100, 101, 10_100),
            Call(1, 1, 0x20, 300, 30_000, 3, 300, 0, 0),
            Call(1, 1, 0x28, 200, 20_000, 2, 200, 1, 100),
            Call(1, 0, 0xABC, 100, 50_000, 0, 0, 100, 10_000),
        ),
        functions=(
            Function(name="main", file="program.c", line=9),
            Function(name="keep", file="keep.h", line=4),
            Function(name="grow;it", file="grow.c", line=7),
        ),
        frames=((), (0, 1), (2,), (2,), ()),
    )


@pytest.fixture
def profile(calls: Calls) -> Profile:
    return made(
        Profile,
        provenance=made(
            Provenance,
            command=("/usr/bin/program", "-v"),
            began="2026-01-02T03:04:05Z",
            duration_s=2.5,
        ),
        calls=calls,
    )


@pytest.fixture
def stacks(profile: Profile, calls: Calls) -> StackProfile:
    return of_profile(profile, calls)
