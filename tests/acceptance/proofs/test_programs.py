# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Large programs of the distribution are recorded whole, in few bytes, and do what they did."""

import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.profile.document import Profile

from .recording import needed, plain_environment, profiled, record

ROOT = Path(__file__).parents[3]
BYTES_PER_EVENT = 10
SCRIPT = """
import collections, json, re
made = [{"k%d" % i: list(range(i % 50)), "s": "x" * (i % 300)} for i in range(COUNT)]
text = json.dumps(made)
assert json.loads(text) == made
print(len(text), collections.Counter(re.findall("k[0-9]", text)).most_common(2))
"""
SERVED = """
const zlib = require('zlib');
const all = [];
for (let i = 0; i < 100000; i++) all.push(Buffer.alloc(100, i % 256));
console.log(zlib.gunzipSync(zlib.gzipSync(Buffer.concat(all))).length);
"""


def whole(profile: Profile, trace: Path) -> None:
    """Figures that must fit together for every program."""
    totals = profile.totals
    ended = totals.frees - totals.null_frees - totals.unknown_frees - totals.inherited_frees
    assert totals.unknown_frees == totals.overwritten == 0
    assert totals.never_freed <= totals.allocations - ended
    assert profile.provenance.lost == 0
    assert trace.stat().st_size <= BYTES_PER_EVENT * profile.provenance.events
    assert profile.system is not None
    most = max(profile.system.samples, key=lambda sample: sample.resident_bytes or 0)
    assert most.heap_resident_bytes
    assert most.resident_bytes
    assert most.heap_resident_bytes < most.resident_bytes


def test_python_on_malloc(tmp_path: Path) -> None:
    python = needed("python3", "python3")
    command = [python, "-c", SCRIPT.replace("COUNT", "5000")]
    extra = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}
    record(command, tmp_path / "trace", extra=extra)
    profile = profiled(tmp_path / "trace")
    whole(profile, tmp_path / "trace")
    assert profile.provenance.events > 500_000
    assert profile.routines.malloc.share > 0.5


def test_the_compiler_and_all_that_it_starts(tmp_path: Path) -> None:
    compiler = needed("g++", "g++")
    source = ROOT / "native" / "runner" / "run" / "accounts.cpp"
    words = [
        compiler,
        "-std=c++20",
        "-O2",
        f"-I{ROOT / 'include'}",
        f"-I{ROOT / 'native'}",
        "-c",
        str(source),
    ]
    plain, recorded = tmp_path / "plain.o", tmp_path / "recorded.o"
    subprocess.run([*words, "-o", plain], env=plain_environment(), cwd=ROOT, check=True)
    record([*words, "-o", recorded], tmp_path / "trace", "--follow-children", cwd=ROOT)
    assert recorded.read_bytes() == plain.read_bytes()
    profile = profiled(tmp_path / "trace")
    assert profile.provenance.lost == 0
    assert profile.provenance.events > 500_000
    executed = {process.command[0].rsplit("/", 1)[-1] for process in profile.provenance.processes}
    assert {"g++", "cc1plus", "as"} <= executed
    size = (tmp_path / "trace").stat().st_size
    assert size <= BYTES_PER_EVENT * profile.provenance.events


@pytest.mark.slow
def test_node(tmp_path: Path) -> None:
    node = needed("node", "nodejs")
    record([node, "-e", SERVED], tmp_path / "trace")
    profile = profiled(tmp_path / "trace")
    assert profile.provenance.events > 500_000
    assert len(profile.threads) > 1
    assert profile.totals.unknown_frees == 0
    assert (tmp_path / "trace").stat().st_size <= BYTES_PER_EVENT * profile.provenance.events
