# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Rankings by counts: their costs, their tau, and the page that has them."""

import json
from types import ModuleType

import pytest

from support.scripts import ROOT, load_script

KEPT = ROOT / "docs" / "results" / "agreement"
MISSES = ("I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")


@pytest.fixture(scope="module")
def counts() -> ModuleType:
    return load_script("benchmarks/agreement_counts.py")


def line(load: str, allocator: str, instructions: int, misses: int = 0, faults: int = 0) -> str:
    found = {"Ir": instructions, "faults": faults, **dict.fromkeys(MISSES, misses)}
    return json.dumps({"program": "p", "load": load, "allocator": allocator, "counts": found})


def test_a_cost_contains_misses_and_faults(counts: ModuleType) -> None:
    table = counts.table_of([line("program", "a", 1000, misses=2, faults=3)])
    one = table["p"]["program"]["a"]
    assert counts.cost(one, "instructions") == 1000
    assert counts.cost(one, "instructions and misses") == 1000 + 2 * 3 * 10 + 2 * 3 * 100
    assert counts.cost(one, counts.COSTS[2]) == 1660 + 3 * 1500


def test_tau_is_of_the_allocators_that_both_have(counts: ModuleType) -> None:
    lines = [line("program", name, at) for at, name in enumerate("abcd", 1)]
    lines += [line("replay", name, at, misses=9 - 3 * at) for at, name in enumerate("abc", 1)]
    loads = counts.table_of(lines)["p"]
    assert counts.tau(loads, "replay", "instructions") == 1
    assert counts.tau(loads, "replay", "instructions and misses") == -1
    text = counts.page({"p": loads})
    assert "| p | 1.00 |" in text
    assert "| mean | -1.00 |" in text


def test_a_start_is_taken_off_every_count(counts: ModuleType) -> None:
    start = json.loads(line("start", "a", 70, misses=1, faults=5))
    lines = [json.dumps({**start, "program": "start"}), line("replay", "a", 100, faults=7)]
    found = counts.table_of(lines)["p"]["replay without its start"]["a"]
    assert (found["Ir"], found["faults"], found["D1mr"]) == (30, 2, -1)


def test_the_page_has_the_tables_of_its_raw_counts(counts: ModuleType) -> None:
    raw = (KEPT / "counts.jsonl").read_text().splitlines()
    text = counts.page(counts.table_of(raw), counts.lowered(raw))
    assert text in (KEPT / "counts.md").read_text()


def test_a_pair_without_counts_is_named_and_not_in_the_mean(counts: ModuleType) -> None:
    lines = [line(load, name, at) for load in ("program", "replay") for at, name in enumerate("ab")]
    other = json.loads(line("program", "a", 1)) | {"program": "q"}
    text = counts.page(counts.table_of([*lines, json.dumps(other)]))
    assert "| q | - |" in text
    assert "| mean | 1.00 |" in text
    assert text.endswith("There are no counts of q: replay.\n")


def test_fewer_visits_than_the_name_says_are_marked(counts: ModuleType) -> None:
    made = json.loads(line("replay, 10 visits", "a", 1)) | {"between": {"visits_per_ms": 9999}}
    full = json.loads(line("replay, 10 visits", "a", 1)) | {"between": {"visits_per_ms": 10000}}
    assert counts.lowered([json.dumps(made)]) == {("p", "replay, 10 visits")}
    assert counts.lowered([line("replay", "a", 1), json.dumps(full)]) == set()
