# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Short searches of `heapwright tailor` for the tests of its command line."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from heapwright.analysis.looks import fixed
from heapwright.artefacts.allocator.catalogue import ComposedAllocator
from heapwright.artefacts.tailoring.document import Proof
from heapwright.commands import (
    tailor,
    tailor_candidates,
    tailor_proof,
    tailor_race,
    tailor_refine,
    tailor_steps,
)
from heapwright.commands.tailor_candidates import Candidate
from heapwright.compose.conformance import Verdict
from heapwright.compose.workshop import Made, Order, Shop
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.proposals import propose
from heapwright.tailor.refinement import Variants


def shorten(monkeypatch: pytest.MonkeyPatch, good: Path) -> None:
    """A search with one proposal without neighbours, a short race, and this malloc in place of the
    compiled libraries."""

    def placed(candidates: Iterable[Candidate], *_: object) -> None:
        for each in candidates:
            each.library.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(good, each.library)

    def passing(sentence: Sentence, *_: object) -> tuple[Proof, bool]:
        return Proof(candidate=sentence.name), True

    monkeypatch.setattr(tailor, "compile_all", placed)
    monkeypatch.setattr(tailor_steps, "compile_all", placed)
    monkeypatch.setattr(tailor_refine, "compile_all", placed)
    monkeypatch.setattr(tailor_refine, "variants", lambda *_: Variants(()))
    monkeypatch.setattr(tailor, "can_count", lambda: False)
    monkeypatch.setattr(tailor_candidates, "can_count", lambda: False)
    monkeypatch.setattr(tailor_proof, "examined", passing)
    monkeypatch.setattr(tailor, "propose", lambda figures: propose(figures)[:1])
    monkeypatch.setattr(tailor, "newest_peers", lambda _: ("glibc", "granary"))
    monkeypatch.setattr(tailor_race, "race_looks", lambda *_: fixed(3, 0.95))
    monkeypatch.setattr(tailor_race, "MOST_BLOCKS", 5)


def composed(library: Path) -> Callable[[Order, Shop], Made]:
    """A composition that delivers this library."""

    def compose(order: Order, shop: Shop) -> Made:
        place = shop.allocators / order.name / f"libheapwright-{order.name}.so"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
        entry = ComposedAllocator(order.name, f"{order.name}.hpp", order.type, order.name)
        return Made(entry, place, (), Verdict(7, 0, ()))

    return compose
