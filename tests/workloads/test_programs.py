# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Each workload: its command line, its result, and how it leaves when it gets too little."""

import json
import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.workload.library import Workload
from heapwright.base.native import workload, workload_dir

from .conftest import Tiny, result, run

# All of them, each in a size that takes no time.
SMALL: dict[str, tuple[object, ...]] = {
    "barnes-hut": ("--bodies", 300, "--rounds", 2),
    "bem": ("--panels", 60),
    "cache-scratch": ("--iterations", 5, "--writes", 500),
    "cache-thrash": ("--iterations", 5, "--writes", 500),
    "idling": ("--objects", 300, "--idle", 2),
    "larson": ("--blocks", 50, "--steps", 200, "--lives", 2),
    "linux-scalability": ("--iterations", 300),
    "loop": ("--iterations", 300),
    "mixed": ("--visits", 300, "--life", 100, "--forks", 1, "--largest", 5000),
    "node-containers": ("--custom", "general", "--sessions", 2, "--steps", 500),
    "obstack-parser": ("--custom", "general", "--texts", 5, "--functions", 6),
    "phong": ("--objects", 3000),
    "producer-consumer": ("--batch", 20, "--rounds", 5),
    "region-compiler": ("--modules", 2, "--sources", 2, "--functions", 8),
    "region-parser": ("--requests", 10, "--documents", 3, "--bytes", 2000),
    "round-robin": ("--batch", 20, "--rounds", 5),
    "shbench": ("--blocks", 2000, "--slots", 200),
    "t-test1": ("--total", 4, "--actions", 100),
    "threadtest": ("--objects", 300, "--rounds", 3),
    "uma-test": ("--allocations", 900),
    "xalloc-parser": ("--custom", "general", "--parses", 3, "--sentences", 3, "--words", 9),
}
NAMES = sorted(SMALL)
MIB = 1 << 20


def test_every_installed_workload_is_tested() -> None:
    installed = [path.name for path in workload_dir().iterdir() if path.is_file()]
    assert sorted(installed) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 3, 64])
def test_it_runs_and_verifies(name: str, threads: int) -> None:
    options = (*SMALL[name], "--threads", threads, "--seed", 5, "--verify")
    document = result(name, *options)
    assert document["workload"] == name
    assert document["threads"] == threads
    assert document["seed"] == 5
    assert document["operations"] > 0
    assert document["seconds"] > 0
    assert document["verified"] is True
    assert document["peak_rss"] > 0
    assert "false_sharing" not in document
    assert "memory" not in document


@pytest.mark.parametrize("name", NAMES)
def test_its_parameters_are_keys_of_its_result(name: str) -> None:
    described = Workload.model_validate_json(run(name, "--describe").out)
    assert described.name == name
    keys = json.loads(
        run(name, *SMALL[name]).out,
        object_pairs_hook=lambda pairs: [key for key, _ in pairs],
    )
    assert len(keys) == len(set(keys))
    assert {parameter.name for parameter in described.parameters} <= set(keys)


@pytest.mark.parametrize("name", NAMES)
def test_its_help_names_all_options(name: str) -> None:
    done = run(name, "--help")
    assert done.status == 0
    described = Workload.model_validate_json(run(name, "--describe").out)
    for option in (*(p.name for p in described.parameters), "threads", "seed", "scale", "verify"):
        assert f"--{option}" in done.out
    assert described.summary in done.out


@pytest.mark.parametrize("name", NAMES)
def test_all_observers_at_once_and_the_bump_pointer(name: str) -> None:
    options = (*SMALL[name], "--threads", 2, "--verify", "--bump")
    document = result(name, *options, "--observe", "lines", "--observe=memory")
    assert document["bump"] is True
    assert document["peak_live"] > 0
    assert document["false_sharing"]["mallocs"] > 0


@pytest.mark.parametrize("name", [n for n in NAMES if n != "mixed"])
def test_one_thread_repeats_the_same_run(name: str) -> None:
    def operations(seed: int) -> int:
        count: int = result(name, *SMALL[name], "--threads", 1, "--seed", seed)["operations"]
        return count

    assert operations(3) == operations(3)


def test_another_seed_is_another_run() -> None:
    counts = {result("phong", *SMALL["phong"], "--seed", s)["operations"] for s in (1, 2, 3)}
    assert len(counts) == 3


def test_scale_multiplies_what_was_not_given() -> None:
    document = result("loop", "--scale", 0.0005, "--threads", 1)
    assert document["iterations"] == 500
    assert document["operations"] == 1000
    assert result("loop", "--iterations", 10, "--scale", 5)["iterations"] == 10


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--thread", "2"], "there is no such option: --thread"),
        (["--threads"], "this option needs a value: --threads"),
        (["--threads", "0"], "--threads takes a whole number between 1 and"),
        (["--threads=-1"], "--threads=-1 takes a whole number"),
        (["--seed", "99999999999999999999999"], "--seed takes a whole number"),
        (["--iterations", "1e3"], "--iterations takes a whole number"),
        (["--scale", "0"], "--scale takes a positive number, not: 0"),
        (["--scale", "nan"], "--scale takes a positive number, not: nan"),
        (["--observe", "pages"], "--observe takes lines or memory, not: pages"),
        (["now"], "there is no such option: now"),
    ],
)
def test_a_command_line_that_cannot_be_read(options: list[str], said: str) -> None:
    done = run("loop", *options)
    assert done.status == 2
    assert done.out == ""
    assert said in done.err


@pytest.mark.parametrize("name", ["larson", "phong", "shbench", "uma-test"])
def test_a_least_size_above_the_largest_is_refused(name: str) -> None:
    done = run(name, "--least", 50, "--most", 40)
    assert done.status == 2
    assert "--least is more than --most" in done.err


@pytest.mark.parametrize("name", NAMES)
def test_a_failed_allocation_is_reported_with_status_3(name: str, tiny: Tiny) -> None:
    done = run(name, *SMALL[name], "--threads", 2, preload=tiny("PLAIN", "POOR=9"))
    assert done.status == 3, done
    assert done.err.startswith(f"heapwright-{name}: ")
    assert "no memory: " in done.err or "could not be started" in done.err


def test_threads_that_cannot_start_are_reported() -> None:
    done = run("loop", "--threads", 64, address_space=256 * MIB)
    assert done.status == 3
    assert " of 64 could not be started: " in done.err


@pytest.mark.parametrize("name", ["bem", "threadtest"])
def test_a_limit_of_memory_is_met_without_a_crash(name: str) -> None:
    size = ("--panels", 4000) if name == "bem" else ("--objects", 20_000_000)
    done = run(name, *size, "--threads", 1, address_space=100 * MIB)
    assert done.status == 3
    assert "no memory: " in done.err


def test_a_result_that_cannot_be_written_is_reported() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [workload("loop"), "--iterations", "10"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr == "heapwright-loop: the result could not be written\n"


def test_the_solver_alone_gives_the_same_result_with_its_own_objects() -> None:
    options = ("--panels", 200, "--threads", 2, "--verify", "--phase")
    whole = result("bem", *options, "all")
    solver = result("bem", *options, "solver")
    assert solver["phase"] == "solver"
    assert solver["charge"] == whole["charge"]
    assert solver["objects"] == whole["objects"]
    steps = (solver["operations"] / 2 - 4) / 4  # four vectors at the start, and in each step
    assert steps == int(steps)
    assert 5 < steps <= 200
    assert solver["operations"] < whole["operations"] / 100


def test_rates_are_operations_over_time() -> None:
    document = result("loop", "--iterations", 100_000, "--threads", 1)
    operations = document["operations"]
    assert operations == 200_000
    assert document["operations_per_second"] == pytest.approx(operations / document["seconds"])
    # The process has also started and ended, which is not in the rate.
    assert document["operations_per_cpu_second"] >= operations / document["cpu_seconds"]


def test_idling_reports_resident_memory_without_requests() -> None:
    """The C library maps large objects one by one, and gives each back when it is freed."""
    document = result("idling", "--threads", 2, "--objects", 60, "--most", 4 * MIB, "--idle", 1)
    assert document["resident_grown"] > 40 * MIB
    assert document["resident_idle"] < document["resident_grown"] / 3
    assert document["operations"] == 2 * 60 + 2 * 2 * 10
    alone = result("idling", "--threads", 2, "--objects", 60, "--idle", 1, "--ending", 1)
    assert alone["operations"] == 2 * 60 + 2 * 10


def test_kept_memory_is_resident_while_idling() -> None:
    options = ("--threads", 2, "--objects", 60, "--most", 4 * MIB, "--idle", 1, "--wakes", 0)
    document = result("idling", *options, "--stay", 100, "--observe", "memory")
    assert document["resident_idle"] > document["peak_live"] > 40 * MIB
    strays = result("idling", *options, "--stay", 0, "--strays", 1000)
    assert strays["resident_idle"] > 40 * MIB
    assert document["operations"] == strays["operations"] == 2 * 60
