# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions of the pass over one trace, by callgrind, beside an earlier build of the profiler.

    profiling_instructions.py EARLIER [TRACE]

EARLIER is a heapwright-profile that was built with the same compiler and options. Without a TRACE,
a Python program is recorded with stacks. The counts are those of all threads. The ratios are to
EARLIER, for the same document, with 1,000 moments, and with pages at the peak and at the end.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from heapwright.artefacts.profile.document import Profile
from heapwright.base import native

LOAD = """
import json, random
random.seed(1)
data = [{f"k{j}": [random.random() for _ in range(4)] for j in range(20)} for _ in range(300)]
for _ in range(6):
    json.loads(json.dumps(data))
"""
MOMENTS = 1000
COLLECTED = re.compile(r"Collected *: *(\d+)")


def instructions(program: Path, trace: Path, options: Sequence[str] = ()) -> int:
    """What one profile takes."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    words = [*tool, str(program), *options, str(trace)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = COLLECTED.search(done.stderr)
    if done.returncode != 0 or found is None:
        sys.exit(f"{program} failed: {done.stderr[-500:]}")
    return int(found[1])


def recorded(folder: Path) -> Path:
    trace = folder / "trace"
    words = [sys.executable, "-m", "heapwright", "record", "-q", "--stacks", "-o", str(trace)]
    environment = {**os.environ, "PYTHONMALLOC": "malloc"}
    subprocess.run([*words, "--", "/usr/bin/python3", "-c", LOAD], env=environment, check=True)
    return trace


def show(earlier: Path, trace: Path) -> None:
    now = native.program("profile")
    done = subprocess.run([now, trace], capture_output=True, check=True)
    events = Profile.from_json(done.stdout).provenance.events
    moments = [word for at in range(MOMENTS) for word in ("--at", f"{100 * at / MOMENTS}%")]
    base = instructions(earlier, trace)
    print(f"{events:,} calls")
    print(f"{'earlier':24} {base:>15,} instructions, {base / events:6.1f} a call")
    for name, options in (
        ("now", []),
        (f"now, {MOMENTS:,} moments", moments),
        ("now, pages", ["--pins", "--at", "peak", "--at", "end"]),
    ):
        count = instructions(now, trace, options)
        each = count / events
        print(f"{name:24} {count:>15,} instructions, {each:6.1f} a call: {count / base:.3f} times")


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit((__doc__ or "").split("\n\n")[1])
    earlier = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        show(earlier, Path(sys.argv[2]) if len(sys.argv) == 3 else recorded(Path(name)))


if __name__ == "__main__":
    main()
