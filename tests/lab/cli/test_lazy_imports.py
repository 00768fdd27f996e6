# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Libraries for charts and statistics are loaded by the verbs that use them, and by no others."""

import os
import sys
from pathlib import Path

import pytest

from support.running import ran

HEAVY = ("altair.vegalite", "scipy._lib", "scipy.stats._stats_py", "jsonschema", "urllib.request")
RUN = """
import sys
from heapwright.cli.main import main
try:
    main()
finally:
    loaded = [name for name in {heavy!r} if name in sys.modules]
    print("loaded:", *loaded, file=sys.stderr)
"""


def loaded(*arguments: str, folder: Path) -> set[str]:
    """The libraries that a verb has loaded at its end."""
    command = [sys.executable, "-c", RUN.format(heavy=HEAVY), *arguments]
    done = ran(command, cwd=folder, env={**os.environ, "XDG_CACHE_HOME": str(folder)})
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split()[1:])


def test_a_page_does_not_check_its_charts_and_a_test_does(tmp_path: Path) -> None:
    program = """
import sys
if sys.argv[1:] == ["page"]:
    from heapwright.cli.lazy_libraries import postpone
    postpone()
import altair as alt
from heapwright.report.pages.vega import finished
finished(alt.Chart(alt.InlineData(values=[])).mark_bar(height="tall"), 100)
"""
    page = ran([sys.executable, "-c", program, "page"], cwd=tmp_path)
    assert page.returncode == 0, page.stderr
    test = ran([sys.executable, "-c", program], cwd=tmp_path)
    assert "'tall' is an invalid value for `height`" in test.stderr


@pytest.mark.usefixtures("native")
def test_a_summary_needs_no_charts_and_no_statistics(tmp_path: Path) -> None:
    assert loaded("profile", "--json", "p.json", "--", "true", folder=tmp_path) == set()
    assert loaded("profile", "p.json", folder=tmp_path) == set()
    assert loaded("workloads", folder=tmp_path) == set()
    assert "altair.vegalite" in loaded("profile", "p.json", "--html", "p.html", folder=tmp_path)


def test_a_lazily_loaded_library_is_complete(tmp_path: Path) -> None:
    program = """
from heapwright.cli.lazy_libraries import LIBRARIES, postpone
postpone()
import altair as alt
from scipy import sparse, special, stats
import vl_convert, scipy, sys
assert not any(name in sys.modules for name in ("scipy._lib", "altair.vegalite"))
assert alt.X("a:Q").to_dict() == {"field": "a", "type": "quantitative"}
assert round(stats.norm.ppf(0.975), 2) == 1.96
assert special.gamma(4) == 6
assert sparse.eye(2).shape == (2, 2)
assert scipy.__version__ and vl_convert.__version__
from scipy.stats import t
assert t is stats.t
from altair.vegalite import v6
assert v6.X is alt.X
assert all(type(sys.modules[name]).__name__ == "module" for name in LIBRARIES)
"""
    done = ran([sys.executable, "-c", program], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
