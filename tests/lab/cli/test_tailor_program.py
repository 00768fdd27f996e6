# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright tailor --program`: what it refuses, and a short search for a server."""

import fcntl
from pathlib import Path

import pytest

from heapwright.analysis.looks import fixed
from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.tailoring.document import Tailoring
from heapwright.base.errors import ExitCode
from heapwright.commands import tailor, tailor_proof, tailor_race

from .tailoring import composed, shorten
from .tools import Heapwright, compile_c, forwarding

pytestmark = pytest.mark.usefixtures("native")

SERVER = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words) {
    void *volatile last = NULL;
    for (int i = 0; i < atoi(words[count - 1]); ++i) {
        if (i % 3) {
            free(last);
        }
        last = malloc(i % 500 + 1);
    }
    close(open(words[1], O_CREAT | O_WRONLY, 0600));
    pause();
}
"""
MINE = """
format = 1
name = "mine"
title = "mine"
command = ["sh", "-c", "test -z \\"$LD_PRELOAD\\" && echo without {calls}"]
[parameters]
calls = 2000
[server]
command = ["{folder}/server", "{run}/ready", "{calls}"]
ready = { path = "{run}/ready" }
[[check]]
what = "the client has no preload"
pattern = "without"
"""


def refused(heapwright: Heapwright, *options: str) -> str:
    done = heapwright("tailor", *options)
    assert done.status == ExitCode.BAD_INPUT, done.err
    assert "Traceback" not in done.err
    return done.err


def test_a_program_that_cannot_have_another_allocator_is_refused(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    assert "there is no program 'no-such'" in refused(heapwright, "--program", "no-such")
    error = refused(heapwright, "--program", "chromium", "--scale", "small", "-o", "search")
    assert "brings an allocator of its own, PartitionAlloc" in error
    lacking = MINE.replace("[parameters]", 'needs = ["no-such-server"]\n[parameters]')
    (tmp_path / "lacking.toml").write_text(lacking)
    error = refused(heapwright, "--program", "./lacking.toml", "-o", "search")
    assert "mine cannot be run here: there is no program no-such-server" in error
    assert not (tmp_path / "search").exists()


def test_a_program_stands_alone_and_its_inputs_are_changes_of_it(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    mine = ("--program", "./mine.toml")
    assert "there cannot be a command beside it" in refused(heapwright, *mine, "--", "true")
    assert "-p is for a program, and none is named" in refused(heapwright, "-p", "calls=3")
    for text in ("calls=3", "-p", "true"):
        error = refused(heapwright, *mine, "--unseen", text)
        assert f"--unseen {text!r} says nothing about ./mine.toml" in error
        assert "--scale NAME -p NAME=VALUE" in error
    assert "call" in refused(heapwright, *mine, "--unseen", "-p call=3")
    assert "leave out --program" in refused(heapwright, *mine, "--advise")


@pytest.mark.usefixtures("cxx")
def test_the_server_alone_has_the_allocator(
    heapwright: Heapwright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = forwarding(tmp_path / "good.so", limit=1_000_000_000)
    shorten(monkeypatch, good)
    monkeypatch.setattr(tailor, "newest_peers", lambda _: ("glibc",))
    monkeypatch.setattr(tailor_race, "race_looks", lambda *_: fixed(2, 0.95))
    monkeypatch.setattr(tailor_race, "LEAST_BLOCKS", 2)
    monkeypatch.setattr(tailor_race, "MOST_BLOCKS", 2)
    monkeypatch.setattr(tailor_proof, "compose", composed(good))
    compile_c(tmp_path / "server", SERVER)
    (tmp_path / "mine.toml").write_text(MINE)
    mine = ("tailor", "--program", "./mine.toml", "--seed", "1", "-o", "search", "--json", "-")
    words = (*mine, "-p", "calls=1500", "--unseen", "-p calls=3000")
    done = heapwright(*words)
    assert done.status == 0, done.err
    found = Tailoring.model_validate_json(done.out)
    assert found.figures.allocations >= 1500
    own = ("heapwright", "programs", "run", "./mine.toml")
    assert found.inputs == ((*own, "-p", "calls=1500"),)
    assert found.unseen == ((*own, "-p", "calls=1500", "-p", "calls=3000"),)
    assert Path(found.header).name == "tailored-mine.hpp"
    (judgement,) = found.judged
    assert (judgement.unseen, judgement.figure) == (True, "time")
    for name in ("race", *(file.stem for file in (tmp_path / "search").glob("judged-0-*.json"))):
        comparison = Comparison.from_json((tmp_path / "search" / f"{name}.json").read_bytes())
        assert comparison.program is not None
        calls = 1500 if name == "race" else 3000
        assert comparison.program.parameters == {"calls": calls}
        assert {run.outcome for run in comparison.runs} == {Outcome.OK}
        assert all(run.interposed for run in comparison.runs if run.allocator != "glibc")
        assert all(run.client_cpu_s is not None for run in comparison.runs)
    again = Tailoring.model_validate_json(heapwright(*words).out)
    assert again.judged == found.judged, "a complete search is not made again"
    with (tmp_path / "mine.toml").open("a") as file:
        file.write("# changed\n")
    assert "another search: it differs in programs" in refused(heapwright, *words[1:])
    with (tmp_path / "search" / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "another heapwright searches in search" in refused(heapwright, *words[1:])
