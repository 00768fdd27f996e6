# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright compare` from end to end: real runs of real commands, short ones."""

import csv
import json
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import ExitCode

from .tools import FORWARDING, WORKER, Heapwright, compile_c, forwarding, library, read

pytestmark = pytest.mark.usefixtures("native")


def outcomes(comparison: Comparison, allocator: str) -> list[Outcome]:
    return [run.outcome for run in comparison.runs if run.allocator == allocator]


def test_the_main_job(heapwright: Heapwright, worker: Path, tmp_path: Path) -> None:
    done = heapwright(
        "compare", "-n", "3", "--json", "out.json", "--csv", "out.csv", "-a", "glibc,kingsley,lea",
        "--", worker,
    )  # fmt: skip
    assert done.status == 0, done.err
    comparison = read(tmp_path / "out.json")
    assert comparison.command == (str(worker),)
    assert comparison.design.blocks == 3
    assert comparison.design.baseline == "glibc"
    assert len(comparison.runs) == 4 * 3
    assert all(run.outcome is Outcome.OK and run.interposed for run in comparison.runs)
    assert [run.warmup for run in comparison.runs] == [True] * 3 + [False] * 9
    for run in comparison.runs:
        assert run.wall_s is not None
        assert 0 < run.wall_s < 60
        assert run.peak_rss_bytes is not None
        assert 2**18 < run.peak_rss_bytes < 2**28
    assert {effect.response for effect in comparison.effects} == {"time", "memory", "cpu"}
    assert comparison.verdict.reason in done.out
    for name in ("glibc (baseline)", "kingsley", "lea"):
        assert name in done.out
    info = {treatment.allocator: treatment for treatment in comparison.treatments}
    assert info["lea"].sha256
    assert info["lea"].version
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 12
    # the runs are safe in out.json, so nothing else is left
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.json", "state"]
    assert list((tmp_path / "state" / "heapwright").iterdir()) == []


def test_without_a_file_the_raw_runs_stay_in_the_journal(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("compare", "-n", "1", "-a", "glibc,lea", "--", worker)
    assert done.status == 0
    (journal,) = (tmp_path / "state" / "heapwright").iterdir()
    assert f"raw runs: {journal}" in done.out
    header, *runs = map(json.loads, journal.read_text(encoding="utf-8").splitlines())
    assert header["command"] == [str(worker)]
    assert runs[0]["allocator"] == "glibc"
    assert len(runs) == 4


def test_the_baseline_is_added_and_may_be_a_library(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    mine = forwarding(tmp_path / "mine.so")
    heapwright("compare", "-n", "1", "-a", "lea", "--json", "a.json", "--", worker)
    assert {t.allocator for t in read(tmp_path / "a.json").treatments} == {"glibc", "lea"}
    done = heapwright(
        "compare", "-n", "1", "-a", "lea", "--baseline", "./mine.so", "--json", "b.json",
        "--", worker, "1",
    )  # fmt: skip
    assert done.status == 0, done.err
    comparison = read(tmp_path / "b.json")
    assert comparison.design.baseline == "mine.so"
    assert comparison.treatments[0].preload == str(mine)


def test_the_baseline_may_be_a_name_given_to_a_library(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    old = forwarding(tmp_path / "a.so")
    forwarding(tmp_path / "b.so")
    done = heapwright(
        "compare", "-n", "1", "--baseline", "old", "-a", "new=./b.so,old=./a.so",
        "--json", "a.json", "--", worker, "1",
    )  # fmt: skip
    assert done.status == 0, done.err
    comparison = read(tmp_path / "a.json")
    assert comparison.design.baseline == "old"
    assert [each.label for each in comparison.treatments] == ["old", "new"]
    assert comparison.treatments[0].preload == str(old)


def test_a_library_that_crashes_is_an_outcome_and_no_time(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    forwarding(tmp_path / "aborts.so", "abort()")
    done = heapwright(
        "compare", "-n", "4", "-a", "glibc,lea,./aborts.so", "--json", "out.json", "--", worker
    )
    assert done.status == 0, done.err
    comparison = read(tmp_path / "out.json")
    assert outcomes(comparison, "aborts.so") == [Outcome.CRASHED] * 3
    assert outcomes(comparison, "lea") == [Outcome.OK] * 5
    assert "aborts.so" not in {effect.allocator for effect in comparison.effects}
    assert comparison.verdict.allocator != "aborts.so"
    assert "aborts.so: crashed 3 times: killed by SIGABRT" in done.out
    assert "aborts.so was given up after block 2" in done.out


def test_a_library_that_hangs_is_a_timeout(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    forwarding(tmp_path / "hangs.so", "for (;;) pause()")
    done = heapwright(
        "compare", "-n", "1", "--timeout", "0.5", "-a", "glibc,./hangs.so", "--json", "out.json",
        "--", worker,
    )  # fmt: skip
    comparison = read(tmp_path / "out.json")
    assert outcomes(comparison, "hangs.so") == [Outcome.TIMEOUT] * 2
    assert outcomes(comparison, "glibc") == [Outcome.OK] * 2
    assert "0.5 s at most" in done.out
    assert done.status == ExitCode.NOTHING_COMPARED


def test_a_library_that_fails_even_in_the_probe_is_still_measured(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    forwarding(tmp_path / "dies.so", "abort()", limit=0)
    done = heapwright(
        "compare", "-n", "1", "-a", "glibc,lea,./dies.so", "--json", "out.json", "--", worker
    )
    assert done.status == 0, done.err
    assert outcomes(read(tmp_path / "out.json"), "dies.so") == [Outcome.CRASHED] * 2
    assert "dies.so: it loads, but the probe is killed by SIGABRT" in done.out


def test_a_library_without_malloc_is_refused_before_any_run(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    library(tmp_path / "empty.so", "int nothing;\n")
    done = heapwright("compare", "-a", "glibc,./empty.so", "--json", "out.json", "--", worker)
    assert done.status == ExitCode.BAD_INPUT
    assert "empty.so cannot be used: it defines no malloc" in done.err
    assert not (tmp_path / "out.json").exists()


def test_a_library_that_does_not_load_is_refused_in_the_loaders_words(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    (tmp_path / "text.so").write_text("no library\n" * 100)
    done = heapwright("compare", "-a", "./text.so,none.so", "--", worker)
    assert done.status == ExitCode.BAD_INPUT
    assert "text.so cannot be used: it does not load: cannot be preloaded (invalid ELF" in done.err
    assert "none.so cannot be used" in done.err
    assert "cannot open shared object file" in done.err


def test_libraries_in_folders_that_the_loader_cannot_name(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    for folder in ("a b", "c:d"):
        (tmp_path / folder).mkdir()
        forwarding(tmp_path / folder / "m.so", limit=10**9)
    done = heapwright(
        "compare", "-n", "1", "-a", "a b/m.so,c:d/m.so", "--json", "out.json", "--", worker
    )
    assert done.status == 0, done.err
    comparison = read(tmp_path / "out.json")
    assert {run.allocator for run in comparison.runs} == {"glibc", "a b/m.so", "c:d/m.so"}
    assert all(run.interposed for run in comparison.runs)


def test_the_same_seed_gives_the_same_order(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    def order(name: str, seed: str, allocators: str) -> list[tuple[int, str]]:
        heapwright(
            "compare", "-n", "4", "--seed", seed, "-a", allocators, "--json", name, "--", worker
        )
        comparison = read(tmp_path / name)
        assert comparison.design.seed == int(seed)
        return [(run.block, run.allocator) for run in comparison.runs]

    first = order("a.json", "42", "glibc,kingsley,lea")
    assert order("b.json", "42", "lea,kingsley,glibc") == first
    assert order("c.json", "43", "glibc,kingsley,lea") != first


def test_a_random_seed_is_printed_and_recorded(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("compare", "-n", "1", "-a", "lea", "--json", "out.json", "--", worker)
    assert f"seed {read(tmp_path / 'out.json').design.seed}" in done.out


def test_a_command_that_fails_under_the_baseline(heapwright: Heapwright, tmp_path: Path) -> None:
    script = "import sys; sys.exit('it is broken')"
    done = heapwright(
        "compare", "-a", "glibc,lea", "--json", "out.json", "--", sys.executable, "-c", script
    )
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "under glibc, the baseline, the command ended as failed: exit status 1" in done.err
    assert "it is broken" in done.err
    assert "--expect-exit 1" in done.err
    assert len(read(tmp_path / "out.json").runs) == 1


def test_quiet_prints_the_sentence_alone(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("compare", "-q", "-n", "2", "-a", "lea", "--json", "o.json", "--", worker)
    assert done.out == read(tmp_path / "o.json").verdict.reason + "\n"
    assert done.err == ""


def test_json_on_standard_output_is_nothing_but_json(heapwright: Heapwright, worker: Path) -> None:
    done = heapwright("compare", "-n", "1", "-a", "lea", "--json", "-", "--", worker)
    assert Comparison.from_json(done.out).design.blocks == 1
    assert "glibc (baseline)" in done.err


def test_a_cap_is_a_filter_on_the_advice(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright(
        "compare", "-n", "2", "-a", "lea", "--cap", "1k", "--json", "out.json", "--", worker
    )
    assert done.status == 0, done.err
    comparison = read(tmp_path / "out.json")
    assert comparison.design.cap_bytes == 1024
    assert comparison.pareto == ()
    assert comparison.verdict.action != "switch"


def test_a_malloc_in_the_program_itself_is_not_interposed(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    text = FORWARDING.replace("AFTER", "").replace("LIMIT", "1000000000")
    program = compile_c(tmp_path / "prog", text + WORKER, "-rdynamic")
    done = heapwright("compare", "-a", "lea", "--json", "out.json", "--", program)
    assert done.status == ExitCode.NOTHING_COMPARED
    assert read(tmp_path / "out.json").runs[0].outcome is Outcome.NOT_INTERPOSED


def test_a_budget_ends_it(heapwright: Heapwright, worker: Path, tmp_path: Path) -> None:
    heapwright(
        "compare", "--until", "0.001%", "--budget", "0.02", "-a", "lea", "--json", "out.json",
        "--", worker, "10", "100",
    )  # fmt: skip
    design = read(tmp_path / "out.json").design
    assert design.stopped_because == "the budget of 0.02 min is spent"
    assert design.blocks < 10
    assert design.until == pytest.approx(0.00001)


def test_deployable_allocators_are_compared_by_default(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("compare", "-n", "1", "--json", "out.json", "--", worker)
    assert done.status == 0, done.err
    named = {treatment.allocator for treatment in read(tmp_path / "out.json").treatments}
    assert {"glibc", "glibc-no-tcache", "glibc-one-arena", "glibc-keep", "granary"} <= named
    assert not {"kingsley", "lea", "slub"} & named


def test_a_group_stands_for_its_usable_members(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("compare", "-n", "1", "-a", "kernel,lea", "--json", "out.json", "--", worker)
    assert done.status == 0, done.err
    named = {treatment.allocator for treatment in read(tmp_path / "out.json").treatments}
    assert named == {"glibc", "slab", "slob", "slub", "slqb", "lea"}
    done = heapwright("compare", "-n", "1", "-a", "all", "--json", "out.json", "--", worker)
    named = {treatment.allocator for treatment in read(tmp_path / "out.json").treatments}
    listed = json.loads(heapwright("allocators", "--json").out)
    assert named == {allocator["name"] for allocator in listed if allocator["usable"]}


def test_without_blocks_or_a_width_it_is_a_race(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright(
        "compare", "-a", "lea,granary", "--budget", "0.05", "--json", "out.json",
        "--", worker, "10", "100",
    )  # fmt: skip
    assert done.status == 0, done.err
    document = read(tmp_path / "out.json")
    assert document.design.race in {"time", "cpu"}
    assert document.race is not None
    gone = {departure.key: departure.block for departure in document.race.departures}
    for run in document.runs:
        key = (run.allocator, run.level)
        assert key == ("glibc", "") or run.block <= gone.get(key, run.block)
    assert "A race: slow candidates left early." in done.out


def test_processes_without_the_allocator_decide_by_their_share(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    static = compile_c(tmp_path / "static", WORKER, "-static")
    done = heapwright(
        "compare", "-n", "1", "-a", "lea", "--json", "small.json", "--shell",
        "--", f"{static} 1 100; {worker} 3000000",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert all(run.interposed for run in read(tmp_path / "small.json").runs)
    assert "did not load it" in done.out  # its name is known only if it was met alive
    done = heapwright(
        "compare", "-n", "1", "-a", "lea", "--json", "large.json", "--shell",
        "--", f"{static} 3000000; {worker} 1",
    )  # fmt: skip
    assert done.status == ExitCode.NOTHING_COMPARED
    (run,) = read(tmp_path / "large.json").runs
    assert run.outcome is Outcome.NOT_INTERPOSED
    assert not run.interposed
