# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright compare` with named commands and parameters, from end to end."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import ExitCode

from .tools import WORKER, Heapwright, compile_c, read

pytestmark = pytest.mark.usefixtures("native")


def test_commands_alone_run_as_they_are(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    static = compile_c(tmp_path / "static one", WORKER, "-static")
    done = heapwright(
        "compare", "-n", "2", "--command", f"old={worker} 10",
        "--command", f"new='{static}' 10", "--json", "a.json",
    )  # fmt: skip
    assert done.status == 0, done.err
    comparison = read(tmp_path / "a.json")
    assert [each.label for each in comparison.treatments] == ["old", "new"]
    assert [each.command for each in comparison.treatments] == [
        (str(worker), "10"), (str(static), "10"),
    ]  # fmt: skip
    assert comparison.command == (str(worker), "10")
    assert {run.outcome for run in comparison.runs} == {Outcome.OK}
    assert [run.level for run in comparison.runs].count("new") == 3
    assert "old (baseline)" in done.out
    assert done.out.startswith("Candidate")
    assert f"explain -- {worker} 10" in done.err


def test_commands_are_crossed_with_allocators_and_the_baseline_is_chosen(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright(
        "compare", "-n", "1", "-a", "glibc,lea", "--baseline", "new",
        "--command", f"old={worker} 10", "--command", f"new={worker} 20", "--json", "a.json",
    )  # fmt: skip
    assert done.status == 0, done.err
    comparison = read(tmp_path / "a.json")
    assert comparison.design.baseline == "glibc [new]"
    assert {each.label for each in comparison.treatments} == {
        "glibc [new]", "glibc [old]", "lea [new]", "lea [old]",
    }  # fmt: skip
    assert all(run.outcome is Outcome.OK and run.interposed for run in comparison.runs)


def test_each_level_of_a_parameter_has_a_table_and_a_gate_reads_the_document(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright(
        "compare", "-n", "2", "-a", "glibc,lea", "--parameter", "n=10,500", "--json", "a.json",
        "--", worker, "{n}",
    )  # fmt: skip
    assert done.status == 0, done.err
    comparison = read(tmp_path / "a.json")
    assert [each.parameters for each in comparison.levels] == [{"n": "10"}, {"n": "500"}]
    assert [each.baseline for each in comparison.levels] == ["glibc", "glibc"]
    words = {each.label: each.command[1:] for each in comparison.treatments}
    assert words["lea [n=500]"] == ("500",)
    assert done.out.count("glibc (baseline)") == 2
    assert "\nn=500\n" in done.out
    judged = heapwright("gate", "a.json")
    assert not judged.err
    assert "lea [n=10] " in judged.out
    assert "lea [n=500]" in judged.out
    drawn = heapwright("report", "a.json", "-o", "a.html")
    assert "the document of a comparison, which has no page" in drawn.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--command", "a=true"], "only the command a is given"),
        (["--command", "a=true", "--command", "b=true", "--", "true"], "beside it"),
        (["--command", "a=true", "--command", "b=true", "--shell"], "beside it"),
        (["--command", "a=nowhere-at-all", "--command", "b=true"], "command not found"),
        (["--command", "a='true", "--command", "b=true"], "cannot be split"),
        (["--parameter", "n=1,2", "--", "true"], "no command has {n}"),
        (["--command", "a=true", "--program", "sqlite"], "there cannot be a command beside"),
        (["--parameter", "n=1", "--program", "sqlite"], "there cannot be --parameter beside"),
    ],
)
def test_an_inconsistent_request_is_refused_before_any_run(
    heapwright: Heapwright, arguments: list[str], said: str, tmp_path: Path
) -> None:
    done = heapwright("compare", "-n", "1", *arguments)
    assert done.status == 2, done.err
    assert said in done.err
    assert not (tmp_path / "state").exists()


def test_two_names_for_one_command_are_reported(heapwright: Heapwright, worker: Path) -> None:
    command = f"{worker} 10"
    done = heapwright(
        "compare", "-n", "1", "--command", f"a={command}", "--command", f"b={command}"
    )
    assert done.status == 0, done.err
    assert "a and b are the same command" in done.out


def test_a_command_that_needs_a_terminal_and_a_budget_for_no_block(heapwright: Heapwright) -> None:
    talks = "sh -c 'read line </dev/tty'"
    done = heapwright("compare", "-n", "1", "--command", f"a={talks}", "--command", "b=true")
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "the command needs a terminal" in done.err
    sleeps = "sleep 0.3"
    done = heapwright(
        "compare", "--budget", "0.001", "--command", f"a={sleeps}", "--command", "b=sleep 0.2"
    )
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "too small for one block; it takes at least --budget 0.1" in done.err
