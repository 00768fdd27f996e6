# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is noted about runs, and what is said when nothing could be compared."""

import pytest

from heapwright.analysis.looks import adaptive, fixed
from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.program.model import ProgramSubject
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Allocator, Environment, Kind
from heapwright.base.errors import ExitCode
from heapwright.commands.comparison_notes import notes_on, why_nothing
from heapwright.commands.conclusion import Question, conclude, enough_by, is_compared
from heapwright.experiment.blocks import GivenUp
from heapwright.experiment.comparison import Plan, Result
from heapwright.experiment.treatments import Treatment
from support.documents import made

TREATMENTS = [Treatment(Allocator(name=name, kind=Kind.FILE)) for name in ("glibc", "lea")]
PLAN = Plan(treatments=TREATMENTS, seed=1, blocks=5)
QUESTION = Question(("ls",), fixed(5), 0.02, None, ())
QUIET = made(Environment, cpus=4, memory_bytes=2**30)


def run(name: str, block: int, outcome: Outcome = Outcome.OK, **more: object) -> Run:
    return Run.model_validate(
        {
            "allocator": name,
            "block": block,
            "position": 1,
            "warmup": block < 1,
            "outcome": outcome,
            "wall_s": 1.0 + 0.01 * (block * len(name) % 4),
            "peak_rss_bytes": 10**7 + block * len(name) % 5,
            **more,
        }
    )


def good_runs(blocks: int) -> list[Run]:
    return [run(name, block) for block in range(blocks + 1) for name in ("glibc", "lea")]


def concluded(runs: list[Run], **more: object) -> tuple[Comparison, Result]:
    result = Result(runs=runs, blocks=5, stopped_because="all was done", **more)  # type: ignore[arg-type]
    return conclude(PLAN, QUESTION, result, QUIET), result


def notes(runs: list[Run], **more: object) -> str:
    return "\n".join(notes_on(*concluded(runs, **more)))


def test_a_quiet_comparison_has_no_notes() -> None:
    assert notes(good_runs(5)) == ""


@pytest.mark.parametrize(("wall_s", "said"), [(0.0025, True), (0.2, False)])
def test_a_run_that_is_mostly_the_start_of_a_process_is_noted(wall_s: float, said: bool) -> None:
    short = [each.model_copy(update={"wall_s": wall_s}) for each in good_runs(5)]
    told = notes(short)
    assert ("a run lasts 2.5 ms" in told) is said
    assert ("--exact" in told) is said


def test_failures_are_noted_once_with_their_output() -> None:
    detail = "killed by SIGABRT\nsome words\nlea: free(): double free\nlast words"
    bad = [run("lea", block, Outcome.CRASHED, detail=detail) for block in (1, 2)]
    assert notes([*good_runs(2), *bad]) == (
        "lea: crashed 2 times: killed by SIGABRT; it said: lea: free(): double free"
    )
    bad = [run("lea", 1, Outcome.FAILED, detail="exit status 3\nfirst\nlast")]
    assert "lea: failed once: exit status 3; it said: last" in notes([*good_runs(1), *bad])
    assert "once: it says nothing" in notes([run("lea", 1, Outcome.FAILED)])


def test_a_reached_limit_is_noted() -> None:
    bad = [run("lea", 1, Outcome.TIMEOUT, detail="still running when its time was up")]
    assert "a run had 60 s at most (--timeout)" in notes([*good_runs(1), *bad], timeout_s=60.0)


def test_abandoned_candidates_are_noted() -> None:
    given_up = [GivenUp(("lea", "A=1"), 2, Outcome.CRASHED), GivenUp(("x", ""), 0, Outcome.FAILED)]
    text = notes(good_runs(2), given_up=given_up)
    assert "lea [A=1] was given up after block 2: it ended badly 3 times in a row" in text
    assert "x was given up after the warm-up" in text


def test_small_helper_processes_are_noted_once() -> None:
    detail = "not effective for {} of the CPU time: ldconfig did not load it; x did not load it"
    runs = [
        run(name, block, detail=detail.format(f"0.{block}%"))
        for block in range(3)
        for name in ("glibc", "lea")
    ]
    assert notes(runs).splitlines() == [
        "too small to matter: ldconfig did not load it (under glibc, lea)",
        "too small to matter: x did not load it (under glibc, lea)",
    ]
    many = [run("lea", block, detail=f"share: program {block}") for block in range(9)]
    assert "6 more of the kind" in notes(many)


def test_a_busy_machine_is_noted() -> None:
    noisy = [run("glibc", 0, load_before=7.5, steal_s=0.4, leftover_processes=2), run("lea", 0)]
    text = notes([*noisy, *good_runs(1)])
    assert "the machine was busy before the first run (load 7.5)" in text
    assert "other virtual machines took 10% of the processors' time, 10% in the worst run" in text
    assert "up to 2 processes outlived the command" in text


@pytest.mark.parametrize(
    ("outcome", "hint"),
    [
        (Outcome.FAILED, "--expect-exit 3"),
        (Outcome.TIMEOUT, "--timeout"),
        (Outcome.NOT_INTERPOSED, "--baseline"),
    ],
)
def test_a_baseline_that_fails_is_the_reason(outcome: Outcome, hint: str) -> None:
    bad = run("glibc", 0, outcome, exit_status=3, detail="how it was\nwhat it said")
    comparison, _ = concluded([bad])
    assert not is_compared(comparison)
    error = why_nothing(comparison)
    assert f"under glibc, the baseline, the command ended as {outcome}: how" in error.message
    assert "| what it said" in error.hint
    assert hint in error.hint
    assert error.exit_code is ExitCode.NOTHING_COMPARED


def test_how_a_program_ends_is_reported_by_its_file_alone() -> None:
    bad = run("glibc", 0, Outcome.FAILED, exit_status=0, detail="not so: the answers are right")
    comparison, _ = concluded([bad])
    subject = ProgramSubject(name="mine", title="", sha256="0")
    error = why_nothing(comparison.model_copy(update={"program": subject}))
    assert "not so: the answers are right" in error.message
    assert "--expect-exit" not in error.hint


def test_without_a_failure_the_reason_is_what_ended_it() -> None:
    comparison, _ = concluded([run("glibc", 0)])
    assert not is_compared(comparison)
    assert "nothing could be compared: all was done" in why_nothing(comparison).message


def test_enough_is_asked_only_at_looks_and_only_when_it_matters() -> None:
    runs = good_runs(5)
    assert enough_by(PLAN, QUESTION)(runs, 5) == ""
    asked = Question(("ls",), adaptive(0.5), 0.02, None, ())
    enough = enough_by(PLAN, asked)
    assert enough(good_runs(4), 4) == ""
    assert "every ratio is known to 50 %" in enough(runs, 5)


def test_the_number_of_memory_samples_is_noted_as_a_range() -> None:
    runs = [
        run("glibc", block, peak_rss_method=f"sum (sampled every {every} ms in the mean)")
        for block, every in enumerate((12, 9, 10))
    ]
    assert notes(runs) == "peak memory: sum (sampled every 9 to 12 ms in the mean)"
    assert notes(runs[:1]) == "peak memory: sum (sampled every 12 ms in the mean)"


def test_one_remaining_process_is_noted_in_the_singular() -> None:
    text = notes([run("glibc", 0, leftover_processes=1)])
    assert text == "a process outlived the command and was ended after the run"


def test_the_users_preload_is_named_if_the_baseline_is_ineffective() -> None:
    comparison, _ = concluded([run("glibc", 0, Outcome.NOT_INTERPOSED, detail="it is another")])
    assert "LD_PRELOAD" not in why_nothing(comparison).hint
    machine = QUIET.model_copy(update={"settings": {"LD_PRELOAD": "libmine.so"}})
    mine = comparison.model_copy(update={"environment": machine})
    assert "your own LD_PRELOAD stays in force: run without it (libmine.so)" in (
        why_nothing(mine).hint
    )


def test_a_good_baseline_alone_is_nothing_to_compare() -> None:
    comparison, _ = concluded([run("glibc", 0), run("lea", 0, Outcome.NOT_INTERPOSED)])
    message = why_nothing(comparison).message
    assert "no run under anything but glibc was good (not-interposed)" in message


def test_the_method_of_the_peak_is_noted_once() -> None:
    methods = (
        "one process; the larger of one (exact, 5 bytes) and the sum",
        "sum over the tree; the larger of one (exact, 7 bytes) and the sum",
    )
    runs = [run("glibc", block, peak_rss_method=method) for block, method in enumerate(methods)]
    assert notes(runs) == "peak memory: the larger of one (exact) and the sum"


def test_a_runtime_with_its_own_heap_is_noted_unless_it_calls_malloc(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    python = {"pid": 7, "ppid": 1, "exe": "/usr/bin/python3.11", "cpu_s": 1.0}
    runs = [*good_runs(5), run("lea", 6, processes=[python]), run("glibc", 6, processes=[python])]
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    told = notes(runs)
    assert told.count("python3.11 keeps objects in a heap of CPython") == 1
    assert "PYTHONMALLOC=malloc" in told
    monkeypatch.setenv("PYTHONMALLOC", "malloc")
    assert "CPython" not in notes(runs)


def test_a_baseline_that_grows_with_each_run_is_noted_as_drift() -> None:
    runs = [
        run(name, block, wall_s=1 + 0.1 * block)
        for block in range(1, 9)
        for name in ("glibc", "lea")
    ]
    text = notes(runs)
    assert text.startswith("drift: glibc needed 63% more wall time at the end")
    assert "--prepare" in text
    assert "drift" not in notes([run("glibc", 9, wall_s=9.0), *good_runs(5)])


def test_where_all_candidates_failed_it_is_reported_how() -> None:
    detail = "killed by SIGSEGV\nlast words"
    crashed = [run("lea", block, Outcome.CRASHED, detail=detail) for block in (0, 1)]
    comparison, _ = concluded([run("glibc", 0), *crashed])
    error = why_nothing(comparison)
    assert (
        error.message
        == "nothing could be compared: no run under anything but glibc was good (crashed)"
    )
    assert error.hint.splitlines() == [
        "lea: crashed 2 times: killed by SIGSEGV; it said: last words",
        "run one of them by itself to see why, or name others",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "stty: 'standard input': Inappropriate ioctl for device",
        "sh: 1: cannot open /dev/tty: No such device or address",
        "the input device is not a TTY",
        "top: failed tty get: must be run from a terminal",
    ],
)
def test_a_command_that_needs_a_terminal_is_noted(said: str) -> None:
    bad = run("glibc", 0, Outcome.FAILED, exit_status=1, detail=f"exit status 1\n{said}")
    comparison, _ = concluded([bad])
    assert "the command needs a terminal" in why_nothing(comparison).hint
    other = run("glibc", 0, Outcome.FAILED, exit_status=1, detail="exit status 1\nno such file")
    comparison, _ = concluded([other])
    assert "terminal" not in why_nothing(comparison).hint
