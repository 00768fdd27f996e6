# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The repeated experiment: the published ratios as printed, and claims judged by intervals."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.comparison.document import Comparison, Design, TreatmentInfo, Verdict
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Environment, Kind
from support.running import ran

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "general_purpose" / "run.py"
# Seconds and bytes that each allocator takes, but for the scatter of the blocks.
COSTS = {"lea": (2.0, 100), "kingsley": (1.0, 300), "kingsley-coalescing": (2.0, 150)}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("general_purpose_run", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    sys.path.insert(0, str(SCRIPT.parent))  # as if it had been started
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SCRIPT.parent))
    return module


def document() -> Comparison:
    blocks = range(1, 9)
    runs = [
        Run(
            allocator=name,
            block=block,
            position=position,
            outcome=Outcome.OK,
            wall_s=seconds * (1 + 0.01 * ((block * 7 + position * 3) % 5)),
            user_s=seconds,
            sys_s=0.0,
            peak_rss_bytes=(size << 20) + block * 4096 + position,
            interposed=True,
        )
        for block in blocks
        for position, (name, (seconds, size)) in enumerate(COSTS.items())
    ]
    return Comparison(
        heapwright_version="0",
        command=("work",),
        environment=Environment(
            **dict.fromkeys(
                ("host", "kernel", "distribution", "cpu", "governor", "libc"), "made up"
            ),
            heapwright="0",
            python="3",
            date="2026-01-01T00:00:00Z",
            clock="tsc",
            cpus=2,
            memory_bytes=1,
        ),
        design=Design(blocks=8, warmup=0, seed=1, baseline="lea", stopped_because="made up"),
        treatments=tuple(
            TreatmentInfo(allocator=name, label=name, kind=Kind.COMPOSED) for name in COSTS
        ),
        runs=tuple(runs),
        effects=(),
        responses=(),
        pareto=(),
        verdict=Verdict(action="undecided", allocator=None, reason="made up"),
    )


def test_published_ratios_are_those_of_the_printed_table(script: ModuleType) -> None:
    ratios = script.published(script.CLAIMS[1])  # Kingsley's memory to Lea's
    assert ratios["espresso"] == pytest.approx(992032 / 448808)
    assert len(ratios) == 6
    assert script.geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_each_claim_is_judged_by_its_interval(script: ModuleType) -> None:
    made = document()
    verdicts = {}
    for claim in script.CLAIMS:
        effect = script.effects(made, claim.against)[claim.allocator, claim.response]
        verdicts[claim.text] = script.verdict(effect, claim)
    assert verdicts == {
        "Kingsley is faster than Lea": "yes",
        "Kingsley needs more memory than Lea": "yes",
        "coalescing makes Kingsley leaner": "yes",
        "coalescing makes Kingsley slower": "yes",
        "Kingsley with coalescing is slower than Lea": "cannot be told",
    }


def test_earlier_documents_are_reported_without_running_anything(tmp_path: Path) -> None:
    (tmp_path / "perl.json").write_text(document().to_json(), encoding="utf-8")
    done = ran([sys.executable, SCRIPT, "--from", tmp_path])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("| perl |") == 7
    assert "failed" in done.stdout  # glibc is not in the document
    assert done.stdout.count("not counted") == 3

    counts = {"lea": 2000, "kingsley": 1000, "kingsley-coalescing": 2500}
    (tmp_path / "perl.instructions.json").write_text(json.dumps(counts), encoding="utf-8")
    done = ran([sys.executable, SCRIPT, "--from", tmp_path])
    ratios = [
        line.split("|")[4].strip()
        for line in done.stdout.splitlines()
        if "| 0.500" in line or "| 2.500" in line or "| 1.250" in line
    ]
    assert ratios == ["0.500", "2.500", "1.250"]


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    done = ran([sys.executable, SCRIPT, "--from", tmp_path])
    assert done.returncode == 2
    assert "none of the programs" in done.stderr
