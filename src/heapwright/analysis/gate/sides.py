# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The two sides of a gate, and which figures are taken relative to a baseline that both share.

A treatment is judged relative to its reference, block by block, if the reference is the same
treatment with the same allocator in both documents. That removes every change that all treatments
share, such as a slower machine. Within one document the reference is the other side.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from heapwright.analysis.gate.documents import Document
from heapwright.analysis.gate.welch import Floats


@dataclass(frozen=True, slots=True)
class Sides:
    """Two documents; `relative` are the treatments whose figures are ratios."""

    baseline: Document
    current: Document
    relative: frozenset[str] = frozenset()
    alone: bool = False
    """There is one document, and the references are its other side."""
    judged: frozenset[str] | None = None
    """What is judged where no treatment is named; None: all."""

    @classmethod
    def of(
        cls, baseline: Document, current: Document, relative: bool | None, named: Iterable[str]
    ) -> "Sides":
        """`relative` as the caller requests it; None: what the documents share. `named` has the
        treatments that the caller named.
        """
        plain = cls(baseline, current)
        followers = _followers(current)
        if relative is None:
            followers = frozenset(each for each in followers if plain.shared(each))
        if relative is False or not followers:
            return plain
        if relative:
            return cls(baseline, current, followers, judged=followers)
        references = {current.references[each] for each in followers}
        judged = (baseline.identities.keys() - references) | set(named)
        return cls(baseline, current, followers, judged=frozenset(judged))

    @classmethod
    def within(cls, document: Document) -> "Sides":
        """Each treatment of one document against its reference."""
        followers = _followers(document)
        return cls(document, document, followers, alone=True, judged=followers)

    def absolute(self) -> "Sides":
        """The figures themselves."""
        return Sides(self.baseline, self.current)

    def is_judged(self, treatment: str) -> bool:
        return self.judged is None or treatment in self.judged

    def is_sequential(self, treatment: str) -> bool:
        """Whether its figures are ratios from a race, which stopped because of them."""
        return treatment in self.relative and (self.baseline.raced or self.current.raced)

    def reference(self, treatment: str) -> str:
        """What the figures of `treatment` are relative to; empty: nothing."""
        return self.current.references[treatment] if treatment in self.relative else ""

    def shared(self, treatment: str) -> tuple[str, ...]:
        """The reference of `treatment`, if both documents share it beside others; else nothing."""
        documents = (self.baseline, self.current)
        references = {each.references.get(treatment, treatment) for each in documents}
        reference = next(iter(references))
        identities = {each.identities.get(reference) for each in documents}
        beside = [
            each
            for each in _followers(self.current)
            if self.current.references[each] == reference and each in self.baseline.identities
        ]
        same = len(references) == len(identities) == 1 and all(
            each.has_figures(reference) for each in documents
        )
        return (reference,) if same and beside and not self.alone else ()

    def samples(self, pair: tuple[str, str]) -> tuple[Floats, Floats]:
        """The logarithms of one figure on both sides, in the order of the blocks."""
        if pair[0] not in self.relative:
            return self.baseline.sample(*pair), self.current.sample(*pair)
        second = self.current.relative().sample(*pair)
        if self.alone:
            return np.zeros_like(second), second
        return self.baseline.relative().sample(*pair), second


def _followers(document: Document) -> frozenset[str]:
    """The treatments whose ratios refer to another one."""
    return frozenset(each for each, reference in document.references.items() if each != reference)
