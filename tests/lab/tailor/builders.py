# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Figures and documents for the tests of this folder."""

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from heapwright.artefacts.tailoring.document import Beside, Judgement, Ratio, Verdict
from heapwright.base import native
from heapwright.compose.compiler import Answer, find_compiler, write
from heapwright.tailor.figures import DEPTHS, Figures
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.header import digest_of, header_of, type_of
from heapwright.tailor.proposals import propose
from heapwright.tailor.site_variants import site_variants
from heapwright.tailor.sites import Place, SiteKey, SiteLives


def figures(threads: int = 1, peak_mib: int = 8) -> Figures:
    """A program with many small objects and a few large ones."""
    counts = Counter({4: 60_000, 24: 60_000, 40: 30_000, 200: 5_000, 1500: 900, 70_000: 20})
    return Figures(
        allocations=counts.total(),
        frees=90_000,
        threads=threads,
        counts=counts,
        at_peak=Counter({4: 5_000, 24: 50_000, 40: 10_000, 200: 100, 70_000: 5}),
        peak_bytes=peak_mib << 20,
        rises=3,
        never_freed=100,
        hits=dict.fromkeys(DEPTHS, 40_000) | {8: 10_000},
        walked=counts.total(),
    )


def site_key(number: int, block: int = 32) -> SiteKey:
    """A call site of a program with a build-id."""
    return SiteKey(Place("job", "00ff", 0x1000 + number), block)


def with_sites(program: Figures) -> Figures:
    """The program with call sites for a small ring of arenas, one more for a large ring, and one
    whose objects last. Those are a tenth of 8 MiB."""
    lives = SiteLives(50_000, 50_000, 1_000_000, 1.0, 0.0, 0)
    program.sites = {
        site_key(1): lives,
        site_key(2): replace(lives, old_at_once=3),
        site_key(3): replace(lives, by_one_thread=20_000, old_at_once=100),
        site_key(4): replace(
            lives, by_one_thread=30_000, young_share=0.0, lasting_share=1.0, old_at_once=None
        ),
    }
    return program


def all_sentences() -> list[Sentence]:
    """Those of programs with one and with several threads, small and large, with and without a heap
    for call sites."""
    programs = [
        with_sites(figures(threads, peak_mib)) for threads in (1, 4) for peak_mib in (1, 64)
    ]
    plain = [(sentence, each) for each in programs for sentence in propose(each)]
    return [
        variant
        for sentence, each in plain
        for variant in (sentence, *site_variants(sentence, each)[-1:])
    ]


def compiled(sentences: Iterable[Sentence], folder: Path) -> Answer:
    """What the compiler says of these sentences in one source, each code once."""
    own = native.native_dir()
    compiler = find_compiler(None, os.environ, folder)
    compiler.include = (own / "include", own, folder)
    text = "#include <preload/complete_allocator.hpp>\n"
    for digest, sentence in {digest_of(each): each for each in sentences}.items():
        name = f"s-{digest}"
        write(folder / f"{name}.hpp", header_of(sentence, name, ()))
        text += f'#include "{name}.hpp"\n'
        text += f"static_assert(heapwright::preload::CompleteAllocator<{type_of(name)}>);\n"
    source = folder / "sentences.cpp"
    write(source, text)
    return compiler.build(["-std=c++20", "-fsyntax-only", "-w", source])


def beside(
    allocator: str,
    time: tuple[float, float, float],
    memory: tuple[float, float, float],
    verdict: Verdict,
) -> Beside:
    """Ratios with their low and high ends."""
    return Beside(
        allocator=allocator,
        time=Ratio(ratio=time[0], low=time[1], high=time[2]),
        memory=Ratio(ratio=memory[0], low=memory[1], high=memory[2]),
        verdict=verdict,
    )


def judgement(*others: Beside, unseen: bool = True) -> Judgement:
    return Judgement(command=("./job",), unseen=unseen, figure="cpu", blocks=10, beside=others)
