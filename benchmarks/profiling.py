# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How fast a trace is profiled beside heaptrack's own analysis, and how little memory that takes.

    profiling.py rate [ROUNDS] [-- COMMAND...]
    profiling.py memory [EVENTS] [RECREATION]

`rate` records one command with both tools and with stacks, because heaptrack always records them.
heapwright also records it once without stacks. In every round each analysis runs once, in a new
random order. An event is a call that the tool recorded. heaptrack works in two steps. The program
heaptrack_interpret turns addresses into numbers of traces while the program runs, so its time
belongs to the recording. The program heaptrack_print then makes the report. heapwright does both in
one pass, from the recording to the report, in two threads. Its CPU time is that of both threads.
The output is events per second of CPU time and of wall time. The ratios are for heaptrack_print
alone and for both steps, as geometric means over the rounds with 95 % intervals. A pipe cannot join
the steps, because heaptrack_print needs the size of its file. docs/reference/profile.md has
results.

`memory` generates a trace (`heapwright-synth --recreate`), of 200 million events by default. It
profiles the trace under a limit of 1 GiB on the address space, which also bounds resident memory.
The limit includes the mapped file, so the size of the file is added.
"""

import math
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import t as student

from heapwright.artefacts.profile.document import Profile
from heapwright.base import native

GIB = 1 << 30
EVENTS = 200_000_000
RECREATION = "steady"
ROUNDS = 7
LOAD = """
import json, random
random.seed(1)
data = [{f"k{j}": [random.random() for _ in range(4)] for j in range(20)} for _ in range(400)]
for _ in range(12):
    json.loads(json.dumps(data))
words = {}
for _ in range(300_000):
    word = f"w{random.randrange(40_000)}"
    words[word] = words.get(word, 0) + 1
"""
INTERPRET = "/usr/lib/heaptrack/libexec/heaptrack_interpret"


@dataclass(frozen=True, slots=True)
class Timed:
    """One analysis: what it did, and how long it took."""

    events: int
    cpu_s: float
    wall_s: float


def timed(events: int, *words: str | Path, stdin: Path | None = None) -> Timed:
    """Run an analysis; its CPU time is that of the whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    with (stdin or Path(os.devnull)).open("rb") as file:
        subprocess.run(words, stdin=file, stdout=subprocess.DEVNULL, check=True)
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timed(events, cpu, wall)


def interval(ratios: Sequence[float]) -> str:
    """Geometric mean and its 95 % interval."""
    logs = [math.log(each) for each in ratios]
    mean = statistics.fmean(logs)
    half = student.ppf(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean):.2f} ({math.exp(mean - half):.2f} to {math.exp(mean + half):.2f})"


def record_ours(folder: Path, command: Sequence[str], *options: str) -> Path:
    trace = folder / f"ours{''.join(options)}.trace"
    words = [sys.executable, "-m", "heapwright", "record", "-q", "-o", str(trace), *options]
    subprocess.run([*words, "--", *command], stdout=subprocess.DEVNULL, check=True)
    return trace


def record_theirs(folder: Path, command: Sequence[str]) -> tuple[Path, Path]:
    """The raw recording, and what heaptrack_interpret makes of it; neither compressed."""
    raw, made = folder / "raw", folder / "interpreted"
    words = ["heaptrack", "-r", "-o", str(raw), *command]
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    subprocess.run(["zstd", "-q", "-d", "--rm", f"{raw}.raw.zst", "-o", raw], check=True)
    with raw.open("rb") as source, made.open("wb") as target:
        subprocess.run(
            [INTERPRET], stdin=source, stdout=target, stderr=subprocess.DEVNULL, check=True
        )
    return raw, made


def calls_in(interpreted: Path) -> int:
    """Allocations and frees of heaptrack's recording: its lines with + and -."""
    with interpreted.open("rb") as file:
        return sum(line[:1] in (b"+", b"-") for line in file)


def events_of(trace: Path) -> int:
    done = subprocess.run([native.program("profile"), trace], capture_output=True, check=True)
    return Profile.from_json(done.stdout).provenance.events


def rate(rounds: int, command: Sequence[str]) -> None:
    if shutil.which("heaptrack") is None:
        sys.exit("heaptrack is not installed (package heaptrack)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = record_ours(folder, command)
        stacked = record_ours(folder, command, "--stacks")
        raw, made = record_theirs(folder, command)
        theirs, ours = calls_in(made), events_of(plain)
        profile = native.program("profile")
        analyses: dict[str, Callable[[], Timed]] = {
            "ours": lambda: timed(ours, profile, plain),
            "ours, with stacks": lambda: timed(ours, profile, stacked),
            "heaptrack_print": lambda: timed(theirs, "heaptrack_print", "-f", made),
            "heaptrack_interpret": lambda: timed(theirs, INTERPRET, stdin=raw),
        }
        runs: dict[str, list[Timed]] = {each: [] for each in analyses}
        for _ in range(rounds):
            for each in random.sample(list(analyses), len(analyses)):
                runs[each].append(analyses[each]())
    print(f"{ours:,} events of heapwright, {theirs:,} of heaptrack")
    for each, made_runs in runs.items():
        cpu = statistics.median(run.events / run.cpu_s for run in made_runs) / 1e6
        wall = statistics.median(run.events / run.wall_s for run in made_runs) / 1e6
        print(f"{each:20} {cpu:8.1f} million events per CPU second, {wall:8.1f} per second")
    for each in ("ours", "ours, with stacks"):
        compare(each, runs)


def compare(ours: str, runs: dict[str, list[Timed]]) -> None:
    """Rates over rates, round by round."""
    printing, interpreting = runs["heaptrack_print"], runs["heaptrack_interpret"]
    of_time: dict[str, Callable[[Timed], float]] = {
        "CPU time": lambda run: run.cpu_s / run.events,
        "time": lambda run: run.wall_s / run.events,
    }
    for of, seconds in of_time.items():
        alone = [seconds(b) / seconds(a) for a, b in zip(runs[ours], printing, strict=True)]
        both = [
            (seconds(b) + seconds(c)) / seconds(a)
            for a, b, c in zip(runs[ours], printing, interpreting, strict=True)
        ]
        print(f"{ours}, by {of}: {interval(alone)} times the rate of heaptrack_print,")
        print(f"    {interval(both)} times that of heaptrack_interpret and heaptrack_print")


def memory(events: int, recreation: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        trace = Path(name) / "long.trace"
        words: list[str | Path] = [
            native.program("synth"),
            "--recreate",
            recreation,
            "--events",
            str(events),
        ]
        subprocess.run([*words, "-o", trace], stdout=subprocess.DEVNULL, check=True)
        size = trace.stat().st_size
        limit = GIB + size

        def bound() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        with tempfile.TemporaryFile() as document:
            began = time.monotonic()
            words = [native.program("profile"), trace]
            process = subprocess.Popen(words, stdout=document, preexec_fn=bound)  # noqa: PLW1509
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - began
            document.seek(0)
            text = document.read()
    most = usage.ru_maxrss * 1024
    if status != 0 or most > GIB:
        sys.exit(f"not within 1 GiB: status {status}, {most / GIB:.2f} GiB resident at most")
    profile = Profile.from_json(text)
    found = profile.provenance.events
    print(f"{found:,} events, {size / found:.2f} bytes each, {profile.peak_live_objects:,} live")
    print(f"profiled in {seconds:.1f} s, {usage.ru_utime + usage.ru_stime:.1f} s of CPU time")
    print(f"most resident memory, parts of the file included: {most / (1 << 20):.0f} MiB")


def main(words: Sequence[str]) -> None:
    if words[:1] == ["memory"]:
        memory(
            int(words[1]) if len(words) > 1 else EVENTS, words[2] if len(words) > 2 else RECREATION
        )
    elif words[:1] == ["rate"]:
        command = words[words.index("--") + 1 :] if "--" in words else []
        rounds = int(words[1]) if len(words) > 1 and words[1] != "--" else ROUNDS
        os.environ["PYTHONMALLOC"] = "malloc"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(LOAD)
            script.flush()
            rate(rounds, command or ["/usr/bin/python3", script.name])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
