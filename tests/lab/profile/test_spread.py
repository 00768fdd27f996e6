# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Mean and spread over repetitions."""

import math
from pathlib import Path

from heapwright.artefacts.profile.document import Profile
from heapwright.profile.run import profile_trace
from heapwright.profile.spread import figures, repeated


def varied(profile: Profile, allocations: int) -> Profile:
    totals = profile.totals.model_copy(update={"allocations": allocations})
    return profile.model_copy(update={"totals": totals})


def test_each_figure_has_its_mean_and_its_spread(trace: Path) -> None:
    profile = profile_trace(trace)
    made = repeated([varied(profile, count) for count in (10, 12, 17)])
    assert (made.repetitions, made.totals.allocations) == (3, 10)
    spread = {each.figure: each for each in made.spread}
    found = spread["totals.allocations"]
    assert (found.mean, found.least, found.most) == (13, 10, 17)
    assert math.isclose(found.sd, math.sqrt(13))
    assert spread["retention.short"].sd == 0
    assert spread["threads.length"].mean == 2
    assert "schema_version" not in spread
    assert Profile.from_json(made.to_json()) == made


def test_a_figure_that_a_run_lacks_has_no_spread(trace: Path) -> None:
    profile = profile_trace(trace)
    with_, without = (
        profile.model_copy(
            update={"peak": profile.peak.model_copy(update={"usable_bytes": usable})}
        )
        for usable in (5, None)
    )
    assert "peak.usable_bytes" in dict(figures(with_))
    names = {each.figure for each in repeated([with_, without]).spread}
    assert "peak.usable_bytes" not in names
    assert "peak.live_bytes" in names


def test_one_run_has_no_spread(trace: Path) -> None:
    made = repeated([profile_trace(trace)])
    assert (made.repetitions, made.spread) == (1, ())
