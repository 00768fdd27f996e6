# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright tune` beside an exhaustive search of the same grid, for peak memory of programs.

    python3 benchmarks/tuning.py [--repeats N] [PROGRAM…]

The exhaustive search runs each of the 243 combinations in each repeat, in random order, and takes
the combination with the least median. A table row has the peaks of both answers, relative to the
default of the exhaustive search, and the runs of both.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from heapwright.artefacts.allocator.settings import chosen_settings, settings_of, variables_of
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.native import workload
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.design import block_order
from heapwright.experiment.measurement import Conditions, Measurement
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.treatments import Treatment

NAMES = ("arena_max", "tcache_count", "mmap_threshold", "trim_threshold", "top_pad")
GLIBC = Allocator(name="glibc", kind=Kind.SYSTEM)
PERL = (
    "my (@d, @e, @p); for (1 .. 100) { my ($n, $t) = ($_, $_); $t .= 'word ' for 1 .. 18000; "
    "push @d, $t; push @e, 'entry ' . 'x' x 80 } @d = (); push @p, 'y' x 127000 for 1 .. 100"
)
PYTHON = (
    "import json; d = [{'k%d' % i: 'v' * (i % 200), 'n': [i] * 9} for i in range(3000)]\n"
    "t = json.dumps(d); e = json.loads(t); print(len(json.dumps(e, indent=1)))"
)
SQL = (
    "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n "
    "where i < 15000) insert into t select i, printf('%0200d', i) from n; "
    "select count(*) from (select distinct b from t order by b desc);"
)
AWK = 'BEGIN { for (r = 1; r < 4; ++r) for (i = 0; i < 20000; ++i) a[i] = a[i] sprintf("%40d", i) }'
COMMANDS: dict[str, tuple[str, ...]] = {
    "perl": ("perl", "-e", PERL),
    "python": ("env", "PYTHONMALLOC=malloc", "python3", "-S", "-E", "-c", PYTHON),
    "sqlite": ("sqlite3", ":memory:", SQL),
    "gawk": ("gawk", AWK),
    "mawk": ("mawk", AWK),
    "larson": (),
}


def words_of(name: str) -> tuple[str, ...]:
    """The command of a program."""
    larson = ("--threads", "4", "--most", "500", "--scale", "0.05")
    return COMMANDS[name] or (str(workload("larson")), *larson)


def exhaustive(command: tuple[str, ...], repeats: int) -> dict[tuple[str, ...], float]:
    """The median peak of each combination."""
    settings = chosen_settings(settings_of("glibc"), NAMES)
    cells = {"/".join(c): c for c in itertools.product(*(each.levels for each in settings))}
    peaks: dict[tuple[str, ...], list[float]] = {cell: [] for cell in cells.values()}
    environment = dict(os.environ)
    with PreloadPaths() as paths:
        execute = Measurement(Conditions(command, environment, Path.cwd()), paths).execute
        for block in range(1, repeats + 1):
            keys = [("glibc", text) for text in cells]
            for place, (_, text) in enumerate(block_order(keys, seed=1, block=block), 1):
                values = variables_of(settings, cells[text], environment)
                run = execute(Assignment(Treatment(GLIBC, text, values), block, place, False, 600))
                if run.outcome is Outcome.OK and run.peak_rss_bytes:
                    peaks[cells[text]].append(run.peak_rss_bytes)
    return {cell: median(values) for cell, values in peaks.items() if values}


def searched(command: tuple[str, ...]) -> tuple[dict[str, str], int]:
    """The settings that `tune` recommends, and its runs."""
    options = [word for name in NAMES for word in ("--setting", name)]
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        own = ["--objective", "peak", "--cap", "none", "--seed", "1", "-q", "-o", f"{folder}/runs"]
        words = [sys.executable, "-m", "heapwright", "tune", *own, "--json", str(answer), *options]
        subprocess.run([*words, "--", *command], check=True, stdout=subprocess.DEVNULL)
        document = json.loads(answer.read_text("utf-8"))
    return document["answer"]["settings"], document["runs"]


def percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %"


def row(name: str, repeats: int) -> str:
    """Both searches on one program."""
    command = words_of(name)
    peaks = exhaustive(command, repeats)
    settings, runs = searched(command)
    default = peaks[("default",) * len(NAMES)]
    found = peaks[tuple(settings.get(each, "default") for each in NAMES)]
    best = min(peaks.values())
    given = ", ".join(f"`{each}={level}`" for each, level in settings.items()) or "nothing"
    ratios = (best / default, found / default, found / best)
    cells = [name, *map(percent, ratios), str(repeats * len(peaks)), str(runs), given]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("programs", nargs="*", default=list(COMMANDS))
    asked = parser.parse_args()
    print("| program | best of all | tune | tune to best | runs of all | runs of tune | sets |")
    print("|---|---|---|---|---|---|---|")
    for name in asked.programs:
        print(row(name, asked.repeats), flush=True)


if __name__ == "__main__":
    main()
