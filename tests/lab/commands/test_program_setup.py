# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs held against this machine: what is said of clients, and of allocators brought along."""

import os
from pathlib import Path

import pytest

from heapwright.artefacts.program.file import read_program
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.base.errors import HeapwrightError
from heapwright.commands.program_setup import ProgramSetup, notes_on_clients, pairs
from heapwright.experiment.program.session import Prepared

SERVED = """format = 1
name = "served"
title = "served"
command = ["client", "{threads}"]
client_threads = "{threads}"
[parameters]
threads = 1
[server]
command = ["server"]
ready = { path = "x" }
"""


def run(client_s: float | None, outcome: Outcome = Outcome.OK) -> Run:
    return Run(
        allocator="glibc",
        block=1,
        position=1,
        outcome=outcome,
        wall_s=10.0,
        user_s=4.0,
        sys_s=1.0,
        client_cpu_s=client_s,
    )


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramSetup:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    path = tmp_path / "served.toml"
    path.write_text(SERVED)
    return ProgramSetup(Prepared(read_program(path), None), {}, None, ())


def test_a_client_that_waits_is_no_bottleneck(setup: ProgramSetup) -> None:
    (note,) = notes_on_clients([run(5.0), run(None), run(9.9, Outcome.FAILED)], setup)
    assert note == "the client used 50% of the processor time and 0.50 processors"


def test_a_client_that_computes_all_the_time_is(setup: ProgramSetup) -> None:
    (note,) = notes_on_clients([run(9.5), run(9.4)], setup)
    assert "of 1 that it can use: it was the bottleneck" in note
    assert list(notes_on_clients([], setup)) == []


def test_a_client_of_many_threads_may_use_as_many(tmp_path: Path, setup: ProgramSetup) -> None:
    many = read_program(tmp_path / "served.toml", None, {"threads": "8"})
    wide = ProgramSetup(Prepared(many, None), {}, None, ())
    (note,) = notes_on_clients([run(9.5)], wide)
    assert "bottleneck" not in note
    (note,) = notes_on_clients([run(38.0)], wide)
    assert "of 4 that it can use" in note
    none = read_program(tmp_path / "served.toml", None, {"threads": "0"})
    with pytest.raises(HeapwrightError, match="should be a number from 1 on"):
        list(notes_on_clients([run(1.0)], ProgramSetup(Prepared(none, None), {}, None, ())))
    del setup


def test_parameters_are_pairs() -> None:
    assert pairs(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    for text in ("a", "=1"):
        with pytest.raises(HeapwrightError, match="cannot read the parameter"):
            pairs([text])
