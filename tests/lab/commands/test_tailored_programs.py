# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The campaign of searches for all programs, and the page that it leads to."""

import gzip
import json
import signal
import subprocess
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from heapwright.artefacts.program.library import REFERENCE, preloadable_names
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.provenance import read_environment
from heapwright.artefacts.tailoring.document import (
    Answer,
    Beside,
    Judgement,
    ProgramFigures,
    Ratio,
    Refinement,
    Round,
    Tailoring,
    Verdict,
)
from heapwright.commands.program_setup import open_asked
from support.documents import made
from support.scripts import load_script


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("benchmarks/tailored_programs.py")


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    return load_script("scripts/tailored_programs_page.py")


def test_each_program_has_an_unseen_input(script: ModuleType) -> None:
    names = preloadable_names()
    assert len(names) == 28
    assert not {"chromium", REFERENCE} & set(names)
    assert set(script.UNSEEN) == set(names)
    for name, changes in script.UNSEEN.items():
        trained = open_asked(ProgramRequest(name, script.SCALE)).program.parameters
        unseen = open_asked(ProgramRequest(name, script.SCALE, changes)).program.parameters
        assert unseen != trained, name


def asked(folder: Path, *, again: bool = False) -> Namespace:
    for name in ("searches", "kept"):
        (folder / name).mkdir(exist_ok=True)
    return Namespace(searches=folder / "searches", keep=folder / "kept", budget=3.0, again=again)


def ends(monkeypatch: pytest.MonkeyPatch, script: ModuleType, line: str) -> None:
    """Run this line of the shell in place of each search. `$3` is the name of the program."""
    monkeypatch.setattr(script, "COMMAND", ("sh", "-c", line, "sh"))


def test_a_failure_is_an_outcome_and_an_interruption_is_continued(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("perl", "redis", "xz")
    fails = "printf 'x\\nheapwright: no luck\\n  with it\\n' >&2; exit 2"
    line = f"test $3 = perl && {{ {fails}; }}; exit 130"
    ends(monkeypatch, script, line)
    first = list(script.campaign(names, asked(tmp_path)))
    assert [(each.program, each.status, each.why) for each in first] == [
        ("perl", 2, "no luck"),
        ("redis", 130, ""),
    ]
    ends(monkeypatch, script, "exit 1")
    second = list(script.campaign(names, asked(tmp_path)))
    assert [(each.program, each.status) for each in second] == [("redis", 1), ("xz", 1)]
    assert list(script.campaign(names, asked(tmp_path))) == []
    again = list(script.campaign(names, asked(tmp_path, again=True)))
    assert [each.program for each in again] == list(names)
    written = json.loads((tmp_path / "kept" / "campaign.json").read_text("utf-8"))
    assert [each["program"] for each in written] == list(names)


@pytest.mark.parametrize("status", [2, 130])
def test_the_seconds_are_those_of_all_attempts(
    status: int, script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(monkeypatch, script, f"echo heapwright: >&2; exit {status}")
    options = asked(tmp_path, again=True)
    (first,) = script.campaign(["perl"], options)
    script.write_outcomes(options.keep, {"perl": replace(first, seconds=100.0)})
    (second,) = script.campaign(["perl"], options)
    assert 100 <= second.seconds < 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_search_starts_leaves_none_running(
    number: signal.Signals,
    script: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It comes when the process is there, and before the campaign has it."""
    started: list[subprocess.Popen[bytes]] = []

    class Signalled(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            started.append(self)
            signal.raise_signal(number)

    ends(monkeypatch, script, "exec sleep 60")
    monkeypatch.setattr(subprocess, "Popen", Signalled)
    folders = [str(tmp_path / name) for name in ("kept", "searches")]
    monkeypatch.setattr("sys.argv", ["x", "--keep", *folders, "perl", "redis"])
    before = signal.getsignal(number)
    assert script.main() == 130
    assert [each.returncode for each in started] == [-signal.SIGINT]
    assert " s, status 130\nthe same command continues" in capsys.readouterr().out
    assert list(script.outcomes(tmp_path / "kept")) == ["perl"]
    assert signal.getsignal(number) is before


def test_the_answer_of_a_complete_search_is_kept(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = tailoring("better").to_json()
    (tmp_path / "answer.json").write_text(answer, "utf-8")
    ends(monkeypatch, script, "cp ../answer.json $3.json")
    (outcome,) = script.campaign(["sqlite"], asked(tmp_path))
    assert (outcome.status, outcome.unseen) == (0, ("seed=2", "rows=6000"))
    kept = gzip.decompress((tmp_path / "kept" / "sqlite.json.gz").read_bytes())
    assert kept.decode() == answer
    words = script.words_of("sqlite", 3.0)
    assert words[words.index("--unseen") + 1] == "-p seed=2 -p rows=6000"


def tailoring(verdict: Verdict) -> Tailoring:
    """A search with this verdict beside mimalloc, and another beside glibc."""
    gain = Ratio(ratio=0.9, low=0.85, high=0.95)
    same = Ratio(ratio=1.002, low=0.99, high=1.01)
    is_used = verdict == "better"
    return made(
        Tailoring,
        environment=read_environment([], {}),
        figures=made(ProgramFigures, allocations=164_113, peak_live_bytes=16 << 20),
        winner="lists-12",
        judged=(
            Judgement(
                command=("job", "2"),
                unseen=True,
                figure="time",
                blocks=7,
                beside=(
                    Beside(
                        allocator="mimalloc-latest",
                        time=same,
                        memory=gain if is_used else same,
                        verdict=verdict,
                    ),
                    Beside(allocator="glibc", time=gain, memory=same, verdict="better"),
                ),
            ),
        ),
        answer=Answer(
            action="tailored" if is_used else "existing",
            allocator="tailored-job" if is_used else "mimalloc-latest",
            reason="because",
            notes=("one | note",),
        ),
        finished=True,
    )


def outcome(program: str, status: int, why: str = "") -> dict[str, object]:
    return {
        "program": program,
        "unseen": ["seed=2"],
        "budget_min": 3.0,
        "began": "2026-11-28T05:00:00+00:00",
        "seconds": 210.0,
        "status": status,
        "why": why,
        "load": [0.5, 1.5],
    }


def test_the_published_page_is_that_of_its_documents(pages: ModuleType) -> None:
    found = pages.kept(pages.FOLDER)
    assert found
    judged = [each for each in found if each.judged is not None]
    assert all((pages.FOLDER / f"{each.name}.csv.gz").is_file() for each in judged)
    made = pages.page(found, preloadable_names())
    assert (pages.FOLDER / pages.NAME).read_text("utf-8") == made


def test_the_page_has_each_program_with_its_intervals_or_its_reason(
    pages: ModuleType, tmp_path: Path
) -> None:
    verdicts: dict[str, Verdict] = {"gawk": "better", "perl": "same"}
    won = Refinement(rounds=(Round(beside="a", tried=(), winner="a-depth-8"),), ended="no more")
    for name, verdict in verdicts.items():
        refinement = won if name == "gawk" else None
        document = tailoring(verdict).model_copy(update={"refinement": refinement})
        text = document.to_json().encode()
        (tmp_path / f"{name}.json.gz").write_bytes(gzip.compress(text))
    outcomes = [
        outcome("perl", 0),
        outcome("gawk", 0),
        outcome("redis", 2, "redis cannot be run here"),
        outcome("node", 130) | {"budget_min": 8.0},
    ]
    (tmp_path / "campaign.json").write_text(json.dumps(outcomes), "utf-8")
    page = pages.page(pages.kept(tmp_path), ["gawk", "node", "perl", "redis", "xz"])
    lines = page.splitlines()
    own = "+0.2 % (-1.0 to +1.0)"
    gain = "-10.0 % (-15.0 to -5.0)"
    assert f"| gawk | mimalloc-latest | {own} | {gain} | better | tailored | 3.5 |" in lines
    rest = "same | mimalloc-latest | 3.5 |"
    assert f"| perl | mimalloc-latest | {own} | {own} | {rest}" in lines
    assert lines.count(f"| perl | glibc | {gain} | {own} | better |") == 1
    assert "| gawk | `seed=2` | 164,113 | 16.0 MiB | lists-12 | 7 |" in lines
    assert "- On 1 of 5 programs, the answer is the tailored allocator. The goal is 10." in lines
    assert "- 3 of 5 programs were searched, and 2 were judged." in lines
    refined = "- Searches that refined the winner of the race: 1. A neighbour won in 1 of them."
    assert f"{refined} Without time for it: 0." in lines
    assert sum(line.endswith("call sites from heaps of their own: 1.") for line in lines) == 1
    assert "python benchmarks/tailored_programs.py --budget 3 SEARCHES" in lines
    assert "- Budgets other than 3 min: node 8 min." in lines
    assert "- redis: redis cannot be run here" in lines
    assert "- node: interrupted" in lines
    assert "- not begun: xz" in lines
    assert "- gawk, perl: one | note" in lines
    (load,) = [line for line in lines if "The load average was" in line]
    assert "1.0 in the median and 1.5 at most" in load
