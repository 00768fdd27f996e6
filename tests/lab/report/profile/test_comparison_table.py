# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Two profiles on a terminal: every figure in both, and what changed most."""

from io import StringIO

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.report.console import make_console
from heapwright.report.profile.comparison_table import print_comparison


def shown(before: Profile, after: Profile, width: int | None = None, *, quiet: bool = False) -> str:
    stream = StringIO()
    console = make_console(stream, width=width)
    print_comparison(console, before, after, ("old", "new"), quiet=quiet)
    return stream.getvalue()


@pytest.fixture
def after(profile: Profile) -> Profile:
    totals = profile.totals.model_copy(update={"allocations": 1120})
    sites = tuple(site.model_copy(update={"bytes": 4 * site.bytes}) for site in profile.sites)
    return profile.model_copy(update={"totals": totals, "sites": sites})


def test_figures_stand_side_by_side(profile: Profile, after: Profile) -> None:
    lines = shown(profile, after).splitlines()
    (line,) = [line for line in lines if line.startswith("total memory, allocations")]
    assert line.split()[-4:] == ["1,000", "1,120", "+12.0", "%"]
    assert any(line.startswith("read_file ← main") and line.endswith("4x") for line in lines)
    assert "chance and real changes cannot be separated" in lines[-1]


def test_quiet_leaves_what_changed(profile: Profile, after: Profile) -> None:
    lines = shown(profile, after, quiet=True).splitlines()
    assert len(lines) == 2
    assert shown(profile, profile, quiet=True) == "No figure differs.\n"


def test_narrow_terminals_get_short_lines(profile: Profile, after: Profile) -> None:
    lines = shown(profile, after, 40).splitlines()
    assert max(map(len, lines)) <= 40
    assert "  new: 1,120" in lines
    assert "  change: +12.0 %" in lines
