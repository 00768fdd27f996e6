# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What surrounds a run of a study; the runs themselves are in tests/lab/cli/test_study_run.py."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.artefacts.study.factor import Level
from heapwright.artefacts.study.file import parse_study
from heapwright.artefacts.study.template import OF_RUN, fill
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.hooks import run_hook
from heapwright.experiment.study_hooks import Filling, StudyHooks
from heapwright.experiment.study_measurement import in_block, measuring, shown, thinned
from heapwright.experiment.treatments import Treatment

STUDY = """
format = 1
name = "hooked"
title = "hooks"
command = ["true"]
[factors.allocator]
levels = ["glibc"]
[responses.time]
from = "wall"
[hooks]
after_run = "echo after >> log; exit 3"
"""


def test_the_measuring_command_holds_the_measured_one() -> None:
    words = measuring(("time", "-o", "{report}", "--", "{command}", "x"), ("ls", "-l"), Path("/r"))
    assert words == ("time", "-o", "/r", "--", "ls", "-l", "x")


def test_the_number_of_the_block_is_put_into_each_place_and_into_no_text_that_is_like_it() -> None:
    levels = {"pattern": Level("odd", "{block}")}
    templates = ("--seed={block}", "{{block}}", "{pattern}", "{block}{block}")
    words = [fill(each, levels, programs=str, others=OF_RUN) for each in templates]
    assert in_block(words, 7) == ("--seed=7", "{block}", "{block}", "77")
    assert shown(words) == ("--seed={block}", "{block}", "{block}", "{block}{block}")


@given(st.lists(st.integers(0, 2**40)), st.integers(2, 50))
def test_a_thinned_series_keeps_its_peak_and_its_end(sizes: list[int], most: int) -> None:
    series = [(place * 0.01, size) for place, size in enumerate(sizes)]
    thin = thinned(series, most)
    assert len(thin) <= most
    assert [size for _, size in thin[-1:]] == sizes[-1:]
    assert max((size for _, size in thin), default=0) == max(sizes, default=0)
    assert [at for at, _ in thin] == sorted(at for at, _ in thin)


def test_a_hook_is_a_shell_line_or_a_list_of_words(tmp_path: Path) -> None:
    run_hook("it", "echo one $X > said", {"X": "two", "PATH": "/bin:/usr/bin"}, tmp_path)
    assert (tmp_path / "said").read_text() == "one two\n"
    run_hook("it", ("touch", "a b"), {"PATH": "/bin:/usr/bin"}, tmp_path)
    assert (tmp_path / "a b").exists()


def test_a_failed_hook_is_reported_with_its_last_output(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="it ended with status 3: no luck"):
        run_hook("it", "echo first; echo no luck >&2; exit 3", {}, tmp_path)
    with pytest.raises(HeapwrightError, match="it: /no/such cannot be run"):
        run_hook("it", ("/no/such",), {}, tmp_path)


def test_the_first_error_is_reported_if_the_last_hook_also_fails(tmp_path: Path) -> None:
    study = parse_study(STUDY, "the study").study
    treatment = Treatment(Allocator(name="glibc", kind=Kind.SYSTEM), levels={"allocator": "glibc"})
    hooks = StudyHooks(study, Filling(study, tmp_path), {"PATH": "/bin:/usr/bin"}, tmp_path)
    with pytest.raises(KeyboardInterrupt), hooks.around(treatment):
        raise KeyboardInterrupt
    failing = pytest.raises(HeapwrightError, match="the hook after_run ended with status 3")
    with failing, hooks.around(treatment):
        pass
    assert (tmp_path / "log").read_text().split() == ["after", "after"]
