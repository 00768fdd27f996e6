# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which call sites get a heap of their own, and how such a sentence is written."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heapwright.artefacts.allocator.catalogue import ComposedAllocator
from heapwright.base import native
from heapwright.compose.compiler import find_compiler
from heapwright.compose.conformance import Conformance
from heapwright.compose.library import build_library
from heapwright.tailor import site_variants as module
from heapwright.tailor.figures import Figures, together
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.header import digest_of, header_of, type_of
from heapwright.tailor.promises import PROMISES, promises_of
from heapwright.tailor.proposals import propose
from heapwright.tailor.site_variants import brief_sites, lasting_sites, site_variants
from heapwright.tailor.sites import SiteKey, SiteLives

from .builders import figures, site_key, with_sites

TABLES = re.compile("CallSiteTable<(Brief|Lasting)Sites>")
EVERY_SITE = """\
struct EverySite {
    bool has(const void*, std::size_t) const noexcept { return true; }
    void resolve() noexcept {}
};
"""
LIVES = SiteLives(50_000, 50_000, 1_000_000, 1.0, 0.0, 0)


def found(**changes: Any) -> dict[SiteKey, SiteLives]:
    """What is chosen of one call site with these figures."""
    program = figures()
    program.sites = {site_key(1): replace(LIVES, **changes)}
    return brief_sites(program, 16)


def test_a_site_whose_objects_are_freed_soon_is_chosen() -> None:
    assert set(found()) == {site_key(1)}
    assert found(young_share=0.99, old_at_once=16)


@pytest.mark.parametrize(
    "changes",
    [{"young_share": 0.98}, {"old_at_once": None}, {"old_at_once": 17}, {"by_one_thread": 5}],
)
def test_another_site_is_not_chosen(changes: dict[str, Any]) -> None:
    assert found(**changes) == {}


def test_blocks_that_no_arena_serves_are_left_out() -> None:
    program = figures()
    program.sites = {site_key(1, 1024): LIVES, site_key(1, 1040): LIVES}
    assert set(brief_sites(program, 16)) == {site_key(1, 1024)}


def test_sites_share_the_arenas_that_may_be_pinned() -> None:
    program = figures()
    program.sites = {
        site_key(1): replace(LIVES, old_at_once=10),
        site_key(2): replace(LIVES, old_at_once=7),
        site_key(3): LIVES,
    }
    assert set(brief_sites(program, 16)) == {site_key(2), site_key(3)}
    assert len(brief_sites(program, 17)) == 3


def test_a_table_has_the_sites_with_most_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SITES", 2)
    program = figures()
    program.sites = {
        site_key(each): replace(LIVES, by_one_thread=1000 * each) for each in range(1, 5)
    }
    assert list(brief_sites(program, 16)) == [site_key(4), site_key(3)]


def variants(program: Figures) -> tuple[Sentence, ...]:
    return site_variants(propose(program)[0], program)


def test_few_requests_and_no_stacks_have_no_variant() -> None:
    assert variants(figures()) == ()
    program = figures()
    program.sites = {site_key(1): replace(LIVES, by_one_thread=15_000)}
    assert variants(program) == ()
    program.sites = {site_key(1): replace(LIVES, by_one_thread=16_000)}
    assert len(variants(program)) == 1


def test_a_variant_has_no_variant() -> None:
    program = with_sites(figures())
    assert site_variants(variants(program)[0], program) == ()


def test_rings_and_lasting_sites_are_variants_alone_and_together() -> None:
    few, many, lasting, both = variants(with_sites(figures()))
    assert set(few.sites[0].keys) == {site_key(1), site_key(2)}
    assert set(many.sites[0].keys) == {site_key(1), site_key(2), site_key(3)}
    assert lasting.sites[0].keys == (site_key(4),)
    assert both.sites == (lasting.sites[0], many.sites[0])
    assert [each.name for each in (few, many, lasting, both)] == [
        "lists-10-sites-64",
        "lists-10-sites-512",
        "lists-10-sites-lasting",
        "lists-10-sites-lasting-512",
    ]
    assert len({digest_of(each) for each in (few, many, lasting, both)}) == 4


def test_few_lasting_bytes_are_no_variant() -> None:
    program = with_sites(figures(peak_mib=64))
    assert set(lasting_sites(program)) == {site_key(4)}
    assert not any("lasting" in each.name for each in variants(program))


def test_an_area_has_room_for_twice_the_bytes() -> None:
    program = figures()
    many = replace(LIVES, by_one_thread=100_000, young_share=0.0, lasting_share=0.99)
    program.sites = {site_key(1, 48): many}
    (lasting,) = variants(program)
    assert lasting.sites[0].units == 16 << 20  # of 2 * 4.8 MB
    assert "LongLivedHeap<16 * MiB, 1 * KiB, MmapHeap>" in header_of(lasting, "job", ())
    program.sites = {site_key(1, 48): replace(many, lasting_share=0.98)}
    assert variants(program) == ()


def test_the_header_has_the_build_of_each_module_and_the_reason() -> None:
    program = with_sites(figures())
    text = header_of(variants(program)[0], "tailored-job", ())
    lines = text.splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert '        {"job", "00ff"},' in lines
    assert "        {0, 0x1001, 32}, {0, 0x1002, 32}," in lines
    assert "using Top = CallSiteHeap<CallSiteTable<BriefSites>, Brief, Others>;" in lines
    assert "ANSIWrapper<tailored_job::Top>" in text
    joined = " ".join(line.removeprefix("// ") for line in lines)
    assert "one thread makes 64% of the allocations at 2 call sites" in joined
    assert "at most 3 objects of these are live" in joined


def test_a_site_must_hold_in_each_input() -> None:
    good, bad = figures(), figures()
    good.sites = {site_key(1): LIVES, site_key(2): LIVES}
    bad.sites = {site_key(1): replace(LIVES, young_share=0.5)}
    assert set(brief_sites(together([good, bad]), 16)) == {site_key(2)}


def test_each_heap_of_two_has_its_steps() -> None:
    lines = header_of(variants(with_sites(figures()))[-1], "job", ()).splitlines()
    tops = [line for line in lines if "CallSiteHeap<" in line]
    assert tops == [
        "using WithLasting = CallSiteHeap<CallSiteTable<LastingSites>, Lasting, Others>;",
        "using Top = CallSiteHeap<CallSiteTable<BriefSites>, Brief, WithLasting>;",
    ]


def test_the_heap_of_call_sites_detects_no_second_free() -> None:
    program = with_sites(figures())
    for sentence in propose(program):
        kept = promises_of(site_variants(sentence, program)[0])
        assert promises_of(sentence) == PROMISES[sentence.core]
        assert "free-sized-larger" in kept
        assert "double-free" not in kept
        assert ("free-stack" in kept) == ("free-stack" in PROMISES[sentence.core])


@pytest.mark.compiles
@pytest.mark.parametrize("name", ["-sites-512", "-sites-lasting"])
@pytest.mark.parametrize("core", ["fit", "owner-caches"])
def test_a_heap_that_gets_every_request_passes_the_conformance_suite(
    core: str, name: str, tmp_path: Path, needs_programs: Callable[..., None]
) -> None:
    needs_programs("conformance")
    program = with_sites(figures())
    sentence = next(each for each in propose(program) if each.core == core)
    (variant,) = (each for each in site_variants(sentence, program) if each.name.endswith(name))
    text = TABLES.sub("EverySite", header_of(variant, "every-site", ()))
    text = text.replace("namespace every_site {", f"namespace every_site {{\n{EVERY_SITE}")
    (tmp_path / "every-site.hpp").write_text(text, "utf-8")
    own = native.native_dir()
    compiler = find_compiler(None, os.environ, tmp_path)
    compiler.include = (own / "include", own, tmp_path)
    entry = ComposedAllocator(
        "every-site", "every-site.hpp", type_of("every-site"), "", variant.entry_points
    )
    library, answer = build_library(compiler, own, tmp_path, entry)
    assert answer.valid, answer.pages[:2000]
    suite = Conformance(native.program("conformance"), str(library), dict(os.environ))
    verdict = suite.run(lambda *_: None)
    assert verdict.failed == ()
    assert verdict.passed > 50
