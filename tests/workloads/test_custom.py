# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The workloads with allocators of their own: the same work, with objects from any source."""

import pytest

from heapwright.artefacts.workload.library import Workload

from .conftest import result, run

SMALL: dict[str, tuple[object, ...]] = {
    "node-containers": ("--sessions", 3, "--steps", 2000, "--room", 100),
    "obstack-parser": ("--texts", 5, "--sources", 2, "--functions", 12),
    "region-compiler": ("--modules", 3, "--sources", 2, "--functions", 12),
    "region-parser": ("--requests", 12, "--documents", 4, "--bytes", 9000, "--session", 5),
    "xalloc-parser": ("--parses", 12, "--sentences", 5),
}
NAMES = sorted(SMALL)


def customs(name: str) -> tuple[str, ...]:
    described = Workload.model_validate_json(run(name, "--describe").out)
    (custom,) = [each for each in described.parameters if each.name == "custom"]
    return custom.choices


@pytest.mark.parametrize("name", NAMES)
def test_each_custom_allocator_does_the_same_work(name: str) -> None:
    found = {
        custom: result(name, *SMALL[name], "--custom", custom, "--threads", 2, "--verify")
        for custom in customs(name)
    }
    assert len(found) >= 4
    assert "general" in found
    assert {document["custom"] for document in found.values()} == set(found)
    for document in found.values():
        assert document["verified"] is True
        assert document["checksum"] == found["general"]["checksum"]
        assert document["operations"] == found["general"]["operations"] > 1000


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_is_other_work(name: str) -> None:
    sums = {result(name, *SMALL[name], "--seed", seed)["checksum"] for seed in (1, 2, 3)}
    assert len(sums) == 3


@pytest.mark.parametrize("name", NAMES)
def test_an_allocator_that_there_is_not_is_refused(name: str) -> None:
    done = run(name, "--custom", "none")
    assert done.status == 2
    assert done.out == ""
    assert f"--custom takes {', '.join(customs(name)[:-1])} or {customs(name)[-1]}" in done.err
    assert "not: none" in done.err


def test_a_region_keeps_what_a_reap_frees() -> None:
    """What is live in the middle of a document, as the allocator under test sees it."""
    options = ("--requests", 4, "--bytes", 200_000, "--observe", "memory", "--custom")
    peak = {custom: result("region-parser", *options, custom)["peak_live"] for custom in FREEING}
    assert peak["general"] < peak["emulated"]
    assert peak["emulated-reap"] < peak["emulated"]


FREEING = ("general", "emulated", "emulated-reap")
