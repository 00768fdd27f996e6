# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Studies of programs that have a file of their own."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.reader import Results, open_results
from heapwright.base.errors import ExitCode

from .studies import write_text
from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")

STUDY = """
format = 1
name = "small"
title = "a program by its parameter"
program = "reference"
parameters = { times = "{times}", lines = 10 }
[factors.allocator]
levels = ["glibc", { name = "ours", allocator = "hoard", set = { MARK = "1" } }]
[factors.times]
levels = [2, 4]
[design]
blocks = 1
[responses.time]
from = "wall"
[responses.memory]
from = "peak_rss"
[responses.answers]
from = "program"
[scale.small.design]
blocks = 2
"""
MINE = """
format = 1
name = "mine"
title = "mine"
command = ["sh", "-c", "{line}"]
[parameters]
line = "true"
[responses.rate]
last_number = "rate"
unit = "1/s"
[[check]]
what = "it speaks"
pattern = "rate"
"""


def run(heapwright: Heapwright, study: Path, *options: str) -> Results:
    done = heapwright("study", "run", study, "-o", study.parent / "results", *options)
    assert done.status == ExitCode.OK, done.err
    return open_results(study.parent / "results")


def test_a_server_under_each_treatment(heapwright: Heapwright, tmp_path: Path) -> None:
    results = run(heapwright, write_text(tmp_path, STUDY), "--scale", "small")
    runs = list(results.runs())
    assert len(runs) == 8
    assert {each.outcome for each in runs} == {Outcome.OK}
    assert all(each.interposed and (each.client_cpu_s or 0) > 0 for each in runs)
    assert all(each.responses["answers"] > 0 for each in runs)
    (answers,) = [each for each in results.design.responses if each.name == "answers"]
    assert (answers.unit, answers.better, answers.title) == ("1/s", "higher", "answers a second")
    assert list(results.design.programs) == ["reference"]
    commands = {cell.command for cell in results.design.treatments}
    assert {command[-2:] for command in commands} == {("serve", "{port}")}


def test_wrong_answers_of_a_user_program_are_reported(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    text = STUDY.replace('"reference"', '"./mine.toml"').replace("answers", "rate")
    text = text.replace('{ times = "{times}", lines = 10 }', '{ line = "echo {times.word} 7" }')
    text = text.replace("[2, 4]", '[{ name = "a", word = "rate" }, { name = "b", word = "no" }]')
    results = run(heapwright, write_text(tmp_path, text))
    ends = {each.responses.get("rate"): each.outcome for each in results.runs()}
    assert ends == {7.0: Outcome.OK, None: Outcome.FAILED}
    (failed, _) = [each for each in results.runs() if each.outcome is Outcome.FAILED]
    assert "not so: it speaks" in failed.detail


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"reference"', '"referense"', "small.toml:5: program: there is no program 'referense'"),
        ("times = ", "tims = ", "program: "),
        ("lines = 10", 'lines = "{line}"', "{line} is not bound"),
        (
            "[design]",
            '[hooks.server]\ncommand = ["x"]\nready = { port = 1 }\n[design]',
            "program's own",
        ),
        ('program = "reference"', 'command = ["true", "{times}"]', "there is none"),
        ("[design]", "[responses.others]\nfrom = 'program'\n[design]", "has no response 'others'"),
        ('program = "reference"', 'program = "reference"\nprogram_scale = "big"', "no scale 'big'"),
        (
            'program = "reference"',
            'program = "reference"\nstdin = "x"',
            "stdin is the program's own",
        ),
    ],
)
def test_errors_are_reported(
    heapwright: Heapwright, tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in STUDY
    study = write_text(tmp_path, STUDY.replace(old, new, 1))
    done = heapwright("study", "run", study, "-o", tmp_path / "results")
    assert done.status == ExitCode.BAD_INPUT
    assert words in done.err
    assert not (tmp_path / "results").exists()
