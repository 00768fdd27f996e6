# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Studies that are run: treatments, responses, hooks, servers, simulators, and bad ends."""

import os
import shutil
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.reader import Results, open_results
from heapwright.base.errors import ExitCode

from .studies import marks, write_study, write_text
from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")

HEAD = """
format = 1
name = "small"
title = "a small study"
"""
ALLOCATORS = """
[factors.allocator]
levels = ["glibc", "kingsley"]
"""
TIMED = """
[responses.time]
from = "wall"
"""


def run(heapwright: Heapwright, study: Path, status: ExitCode = ExitCode.OK) -> Results:
    done = heapwright("study", "run", study, "-o", "results")
    assert done.status == status, done.err
    return open_results(Path("results"))


def script(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def test_every_treatment_once_in_each_block(heapwright: Heapwright, tmp_path: Path) -> None:
    results = run(heapwright, write_study(tmp_path, blocks=3, discard=1))
    frame = results.frame()
    assert results.design.planned == len(frame) == 12
    assert frame.filter(frame["warmup"])["block"].to_list() == [0] * 4
    assert sorted(set(frame["block"])) == [0, 1, 2]
    for block in range(3):
        own = frame.filter(frame["block"] == block)
        assert sorted(own.select("allocator", "size").rows()) == [
            (allocator, size) for allocator in ("glibc", "kingsley") for size in ("1", "2")
        ]
        assert own["position"].to_list() == [1, 2, 3, 4]
    values = frame.select("size", "value").unique().sort("size").rows()
    assert values == [("1", 1.5), ("2", 2.5)]
    assert all(each.interposed for each in results.runs())


def test_the_folder_says_what_is_needed_to_judge_it(heapwright: Heapwright, tmp_path: Path) -> None:
    study = write_study(tmp_path, blocks=1, discard=0)
    results = run(heapwright, study)
    assert results.study_text == study.read_text()
    (machine,) = results.environments.values()
    assert {each.name for each in machine.allocators} == {"glibc", "kingsley"}
    assert all(each.sha256 for each in machine.allocators if each.path)
    whole = list(results.whole_runs({(1, cell.id) for cell in results.design.treatments}))
    assert len(whole) == 4
    assert all(each.processes for each in whole)


def test_a_folder_that_is_used_is_not_written_over(heapwright: Heapwright, tmp_path: Path) -> None:
    study = write_study(tmp_path, blocks=1, discard=0)
    run(heapwright, study)
    before = (tmp_path / "results" / "runs.jsonl").read_bytes()
    again = heapwright("study", "run", study, "-o", "results")
    assert again.status == ExitCode.BAD_INPUT
    assert "heapwright study resume results" in again.err
    assert (tmp_path / "results" / "runs.jsonl").read_bytes() == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine").touch()
    assert "is not empty" in heapwright("study", "run", study, "-o", "other").err


def test_treatments_are_pinned_each_to_its_own_processors(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one processor only")
    study = (
        HEAD
        + 'command = ["nproc"]'
        + ALLOCATORS
        + """
[factors.cpus]
role = "cpus"
levels = [1, 2, 4096]
[responses.seen]
from = "output"
pattern = '(?P<value>[0-9]+)'
"""
    )
    results = run(heapwright, write_text(tmp_path, study + "[design]\nblocks = 1\n"))
    assert set(results.frame().select("cpus", "seen").rows()) == {("1", 1.0), ("2", 2.0)}
    (dropped,) = results.design.dropped
    assert (dropped.factor, dropped.level) == ("cpus", "4096")


def test_a_level_may_have_a_prefix_and_variables(heapwright: Heapwright, tmp_path: Path) -> None:
    script(tmp_path, "tell", 'echo "${FROM_PREFIX:-0}$FROM_LEVEL"')
    study = (
        HEAD
        + """
command = ["{folder}/tell"]
[factors.allocator]
levels = [
  "glibc",
  { name = "wrapped", allocator = "kingsley", prefix = ["env", "FROM_PREFIX=7"] },
  { name = "set", allocator = "kingsley", set = { FROM_LEVEL = "5" } },
]
[design]
blocks = 1
[responses.told]
from = "output"
pattern = '(?P<value>.+)'
"""
    )
    results = run(heapwright, write_text(tmp_path, study))
    told = dict(results.frame().select("allocator", "told").rows())
    assert told == {"glibc": 0.0, "wrapped": 7.0, "set": 5.0}


def test_the_block_is_a_seed_that_all_treatments_of_a_block_share(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    study = (
        HEAD
        + 'command = ["echo", "seed", "{block}"]'
        + ALLOCATORS
        + """
[design]
blocks = 3
discard = 1
[responses.seed]
from = "output"
pattern = 'seed (?P<value>.+)'
"""
    )
    results = run(heapwright, write_text(tmp_path, study))
    rows = results.frame().select("allocator", "block", "seed").rows()
    assert sorted(rows) == [
        (name, block, float(block)) for name in ("glibc", "kingsley") for block in (0, 1, 2)
    ]


def test_an_allocator_inside_another_c_library_is_a_level(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    compiler = shutil.which("musl-gcc")
    if compiler is None:
        pytest.skip("no musl-gcc (package musl-tools)")
    (tmp_path / "one.c").write_text("int main(void) { return 0; }\n")
    assert os.system(f"cc -o {tmp_path}/one-glibc {tmp_path}/one.c") == 0
    assert os.system(f"{compiler} -o {tmp_path}/one-musl {tmp_path}/one.c") == 0
    study = (
        HEAD
        + """
command = ["{folder}/one-{allocator.libc}"]
[factors.allocator]
levels = [
  { name = "glibc", libc = "glibc" },
  { name = "musl", libc = "musl", preload = false },
]
[design]
blocks = 1
"""
        + TIMED
    )
    results = run(heapwright, write_text(tmp_path, study))
    assert set(results.frame()["outcome"]) == {Outcome.OK.value}
    proven = {run.allocator: run.interposed for run in results.runs()}
    assert proven == {"glibc": True, "musl": False}


def test_the_command_that_measures_can_be_exchanged(heapwright: Heapwright, tmp_path: Path) -> None:
    script(tmp_path, "stopwatch", 'report=$1; shift; "$@"; echo "took: 12.25 s" > "$report"')
    study = (
        HEAD
        + """
command = ["true"]
"""
        + ALLOCATORS
        + """
[measure]
command = ["{folder}/stopwatch", "{report}", "{command}"]
[design]
blocks = 1
[responses.took]
from = "measure"
pattern = 'took: (?P<value>[0-9.]+)'
unit = "s"
"""
    )
    results = run(heapwright, write_text(tmp_path, study))
    assert results.frame()["took"].to_list() == [12.25] * 2


def test_simulated_counts_are_labelled_and_hardly_scatter(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("no valgrind (package valgrind)")
    study = (
        HEAD
        + 'command = ["true"]'
        + ALLOCATORS
        + """
[design]
blocks = 2
[responses.instructions]
from = "callgrind"
[responses.misses]
from = "cachegrind"
event = "D1mr+D1mw"
[responses.time]
from = "wall"
"""
    )
    results = run(heapwright, write_text(tmp_path, study))
    simulated = {each.name: each.simulated for each in results.design.responses}
    assert simulated == {"instructions": True, "misses": True, "time": False}
    frame = results.frame()
    for name in ("glibc", "kingsley"):
        counts = frame.filter(frame["allocator"] == name)["instructions"].to_list()
        assert min(counts) > 10_000
        assert max(counts) < 1.05 * min(counts)
    assert frame["misses"].min() > 0
    assert frame["time"].max() < 60


def test_hooks_are_run_around_allocators_and_runs(heapwright: Heapwright, tmp_path: Path) -> None:
    study = (
        HEAD
        + """
command = ["sh", "-c", "echo run {size} >> {folder}/hooks"]
"""
        + ALLOCATORS
        + """
[factors.size]
levels = [1, 2]
[design]
blocks = 2
[hooks]
before_allocator = "echo before {allocator.name} >> {folder}/hooks"
after_allocator = ["sh", "-c", "echo after {allocator.name} >> {folder}/hooks"]
before_run = "echo begin {size} ${LD_PRELOAD:-plain} >> {folder}/hooks"
after_run = "echo end {size} >> {folder}/hooks"
""".replace("${LD_PRELOAD:-plain}", "${{LD_PRELOAD:-plain}}")
        + TIMED
    )
    results = run(heapwright, write_text(tmp_path, study))
    expected, last = [], ""
    for allocator, size in results.frame().select("allocator", "size").rows():
        if allocator != last:
            expected += [f"after {last}"] * bool(last) + [f"before {allocator}"]
            last = allocator
        expected += [f"begin {size} plain", f"run {size}", f"end {size}"]
    expected.append(f"after {last}")
    assert (tmp_path / "hooks").read_text().splitlines() == expected


def test_a_hook_that_fails_ends_the_study_and_keeps_what_there_is(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    study = write_study(
        tmp_path, more='[hooks]\nbefore_run = "test $(cat begun | wc -l) -lt 5 || exit 3"\n'
    )
    (tmp_path / "begun").touch()
    failed = heapwright("study", "run", study, "-o", "results")
    assert failed.status == ExitCode.BAD_INPUT
    assert "the hook before_run ended with status 3" in failed.err
    assert len(open_results(tmp_path / "results").frame()) == 5
    (tmp_path / "begun").unlink()
    (tmp_path / "begun").touch()
    assert heapwright("study", "resume", "results").status == ExitCode.BAD_INPUT
    assert len(open_results(tmp_path / "results").frame()) == 10


def test_bad_ends_have_names_and_are_never_figures(heapwright: Heapwright, tmp_path: Path) -> None:
    script(
        tmp_path,
        "ends",
        "case $1 in fails) exit 4;; dies) kill -SEGV $$;; hangs) sleep 60;; mute) exit 0;; "
        'other) LD_PRELOAD= exec sh -c "i=0; while [ \\$i -lt 99999 ]; do i=\\$((i+1)); done; '
        'echo 1";; *) echo 1;; esac',
    )
    study = (
        HEAD
        + """
command = ["{folder}/ends", "{way}"]
timeout_s = 2
[factors.allocator]
levels = ["kingsley"]
[factors.way]
levels = ["fine", "fails", "dies", "hangs", "mute", "other"]
[design]
blocks = 1
[responses.said]
from = "output"
pattern = '(?P<value>[0-9]+)'
[responses.time]
from = "wall"
"""
    )
    results = run(heapwright, write_text(tmp_path, study))
    frame = results.frame()
    assert dict(frame.select("way", "outcome").rows()) == {
        "fine": "ok",
        "fails": "failed",
        "dies": "crashed",
        "hangs": "timeout",
        "mute": "failed",
        "other": "not-interposed",
    }
    bad = frame.filter(frame["way"] != "fine")
    assert bad["time"].to_list() == bad["said"].to_list() == [None] * 5
    details = {run.outcome: run.detail for run in results.runs()}
    assert "still running when its time was up" in details[Outcome.TIMEOUT]
    told = heapwright("study", "status", "results").out
    assert "kingsley: crashed once: killed by SIGSEGV" in told
    assert "every run failed: kingsley mute" in told


def test_a_study_in_which_nothing_works_reports_it(heapwright: Heapwright, tmp_path: Path) -> None:
    study = HEAD + 'command = ["false"]' + ALLOCATORS + "[design]\nblocks = 5\n" + TIMED
    done = heapwright("study", "run", write_text(tmp_path, study), "-o", "results")
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "no run was good" in done.err
    assert "given up after block 3: glibc: failed 3 times in a row" in done.out
    assert len(open_results(tmp_path / "results").frame()) == 6
    again = heapwright("study", "resume", "results")
    assert again.status == ExitCode.NOTHING_COMPARED
    assert len(open_results(tmp_path / "results").frame()) == 6


def test_a_spent_budget_leaves_something_to_resume(heapwright: Heapwright, tmp_path: Path) -> None:
    study = write_study(tmp_path, blocks=4, pause=0.3)
    first = heapwright("study", "run", study, "-o", "results", "--budget", "0.02")
    assert first.status == ExitCode.OK
    assert "budget" in first.out
    made = len(open_results(tmp_path / "results").frame())
    assert 0 < made < 16
    assert heapwright("study", "resume", "results").status == ExitCode.OK
    assert len(open_results(tmp_path / "results").frame()) == 16
    assert len(marks(tmp_path, "ended")) == 16


def test_other_libraries_are_not_mixed_with_the_first(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    run(heapwright, write_study(tmp_path, blocks=1, discard=0))
    (host,) = (tmp_path / "results").glob("host-*.json")
    (machine,) = open_results(tmp_path / "results").environments.values()
    text = host.read_text()
    for allocator in machine.allocators:
        if allocator.sha256:
            text = text.replace(allocator.sha256, "0" * 64)
    host.write_text(text)
    refused = heapwright("study", "resume", "results")
    assert refused.status == ExitCode.BAD_INPUT
    assert "kingsley is another library now" in refused.err


def test_a_file_that_is_no_study_and_no_result_is_refused(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    assert "there is no study" in heapwright("study", "run", "costa-2041").err
    assert "does not exist" in heapwright("study", "resume", "nowhere").err
    assert "no results of a study" in heapwright("study", "status", tmp_path).err
    missing = write_text(tmp_path, HEAD + 'command = ["no-such-program"]' + ALLOCATORS + TIMED)
    refused = heapwright("study", "run", missing, "-o", "results")
    assert "command not found" in refused.err
    assert not (tmp_path / "results").exists()
