# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of a profile by their path. A path that no profile has is refused before one is read."""

import pytest

from heapwright.artefacts.profile.document import (
    CrossThreadFrees,
    Pattern,
    Peak,
    Profile,
    Provenance,
    Retention,
    Routines,
    RoutineShare,
    Sizes,
    Totals,
)
from heapwright.artefacts.profile.figures import figure_of, why_not
from support.documents import made


def share(count: int) -> RoutineShare:
    return RoutineShare(count=count, share=count / 4, bytes=count * 8)


def profile(kind: str | None = "growing") -> Profile:
    return made(
        Profile,
        provenance=Provenance(duration_s=1.0, events=7),
        totals=made(
            Totals,
            allocations=4,
            bytes=32,
            mean_bytes=8.0,
            frees=3,
            never_freed=1,
            never_freed_bytes=8,
        ),
        sizes=Sizes(distinct=1, top10_share=1.0, top=(), cumulative=(), histogram=()),
        routines=Routines(malloc=share(3), calloc=share(1), realloc=share(0), aligned=share(0)),
        retention=made(
            Retention, short=0.75, long=0.25, short_count=3, long_count=1, never_freed_share=0.25
        ),
        pattern=Pattern.model_validate({"class": kind, "rule": "", "long_lived": ()}),
        peak_live_bytes=16,
        peak_live_objects=2,
        peak=Peak(time_s=0.5, operation=2, live_bytes=16, live_objects=2),
        cross_thread_frees=CrossThreadFrees(count=0, share=0.0),
    )


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("totals.allocations", 4.0),
        ("routines.malloc.share", 0.75),
        ("peak_live_bytes", 16.0),
        ("pattern.class=growing", 1.0),
        ("pattern.class=peak", 0.0),
        ("pattern.densest_third", None),
        ("provenance.stopped=none", 1.0),
        ("system.events", None),
    ],
)
def test_a_path_leads_to_a_number(figure: str, value: float | None) -> None:
    assert figure_of(profile(), figure) == value


def test_a_text_path_that_is_absent_has_no_figure() -> None:
    assert figure_of(profile(None), "pattern.class=growing") is None


def test_queries_that_every_profile_answers() -> None:
    for figure in ("totals.bytes", "pattern.last_quarter", "pattern.class=peak", "repetitions"):
        assert why_not(figure) == ""


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ("totals.alocations", "a profile has no 'alocations' there; it has allocations, bytes"),
        ("totals", "totals is no number"),
        ("totals.bytes.more", "'more' leads on from what is no table"),
        ("pattern.class", "pattern.class is no number; PATH=WORD asks"),
        ("pattern.class=flat", "pattern.class is none of growing, peak"),
        ("totals.bytes=4", "totals.bytes is none of words"),
        ("pattern.kind=peak", "a profile has no 'kind' there"),
        ("sizes.top", "sizes.top is no number"),
        ("", "a profile has no '' there"),
    ],
)
def test_why_not_explains_an_unknown_path(figure: str, words: str) -> None:
    assert words in why_not(figure)
