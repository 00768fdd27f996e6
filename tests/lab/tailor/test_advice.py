# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Objects that die together, and advice from them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from heapwright.artefacts.profile.document import Site
from heapwright.artefacts.tailoring.advice import Advice, Pin
from heapwright.base import native
from heapwright.commands.tailor_advice import advice_of, details, run_advice, sentence
from heapwright.tailor.advice import bare, pools, regions, together
from heapwright.tailor.deaths import Lives, lives_of_events, slack_of

Event = tuple[int, str, int, int, int, int]
NODE, WORD, BUFFER, CACHE = 1, 2, 3, 4
CHAINS = {
    NODE: ("makeNode", "parse", "serve", "main"),
    WORD: ("copyWord", "parse", "serve", "main"),
    BUFFER: ("grow", "write", "serve", "main"),
    CACHE: ("keep", "main"),
}


def site(stack: int) -> Site:
    frames = CHAINS[stack]
    return Site(
        process=0,
        stack=stack,
        frames=frames,
        own=tuple(range(len(frames))),
        allocations=1,
        bytes=1,
        short=0,
        never_freed=0,
        never_freed_bytes=0,
    )


def requests(number: int, threads: int = 1) -> Iterator[Event]:
    """Requests of a server. Each frees its tree of nodes and words as a whole. A buffer grows by
    copies, and one object stays in a cache for all requests."""
    address = 16
    for request in range(number):
        thread = request % threads
        live = []
        for stack, size in ((NODE, 40), (WORD, 10)) * 20:
            address += 64
            live.append(address)
            yield thread, "malloc", stack, address, 0, size
        for size in (100, 200, 400):
            address += 512
            yield thread, "malloc", BUFFER, address, 0, size
            if size < 400:
                yield thread, "free", 0, address, 0, 0
        yield thread, "malloc", CACHE, address + 8, 0, 5
        for each in (*live, address):
            yield thread, "free", 0, each, 0, 0


def advised(lives: Lives) -> list[tuple[str, set[int]]]:
    sites = {stack: site(stack) for stack in lives.sites}
    return [(each.function, set(each.stacks)) for each in regions(lives, sites, 10_000)]


@pytest.mark.parametrize("threads", [1, 3])
def test_the_sites_of_a_request_get_one_region_in_the_function_that_calls_all(threads: int) -> None:
    lives = lives_of_events(requests(60, threads))
    assert lives.sites[NODE].regions == 60
    assert lives.sites[NODE].region_bytes == 60 * 20 * 40
    assert lives.sites[CACHE].regions == 0
    assert lives.sites[CACHE].never_freed == 60
    assert advised(lives) == [("serve", {NODE, WORD, BUFFER})]


def test_workers_that_free_in_reverse_order_have_one_region() -> None:
    def events() -> Iterator[Event]:
        for turn in range(20):
            for worker in range(4):
                for number in range(1, 11):
                    for stack in (NODE, WORD):
                        yield worker, "malloc", stack, 640 * worker + 32 * number + stack, 0, 40
            for worker in reversed(range(4)):
                for number in range(1, 11):
                    for stack in (NODE, WORD):
                        yield worker, "free", 0, 640 * worker + 32 * number + stack, 0, turn * 0

    lives = lives_of_events(events())
    node, word = lives.sites[NODE], lives.sites[WORD]
    assert slack_of(node.ends) > 0
    assert together(node, word)
    assert together(word, node)


def test_a_function_that_returns_each_object_does_not_own_the_region() -> None:
    def alike(stack: int, line: int) -> Site:
        frames = (f"add (job.c:{line})", "parse (job.c:20)", "serve (job.c:30)")
        return site(stack).model_copy(update={"frames": frames, "own": (0, 1, 2)})

    lives = lives_of_events(event for event in requests(60) if event[2] not in (BUFFER, CACHE))
    (found,) = regions(lives, {NODE: alike(NODE, 9), WORD: alike(WORD, 10)}, 10_000)
    assert (found.function, found.callers, found.sites) == ("parse", ("serve",), ("add",))


def test_what_is_freed_before_the_end_of_the_region_is_counted() -> None:
    lives = lives_of_events(requests(60))
    (found,) = regions(lives, {stack: site(stack) for stack in lives.sites}, 10_000)
    assert found.bytes == 60 * (20 * 50 + 700)
    assert found.early_bytes == 60 * 700, "no run of the buffer's frees has enough objects"
    assert (found.objects, found.regions) == (60 * 43, 60)


def test_objects_that_die_alone_need_no_region() -> None:
    def loop() -> Iterator[Event]:
        for number in range(1000):
            yield 0, "malloc", NODE, 16, 0, 48
            yield 0, "free", 0, 16, 0, number * 0

    lives = lives_of_events(loop())
    sites = {NODE: site(NODE)}
    assert advised(lives) == []
    (pool,) = pools(lives, sites, 2000, ())
    assert (pool.function, pool.size, pool.objects, pool.reused) == ("makeNode", 48, 1000, 999)
    assert sentence((), 48_000).startswith("No objects die together")


def test_a_failed_realloc_ends_nothing_and_a_moved_object_is_in_no_region() -> None:
    events: list[Event] = [(0, "malloc", NODE, 16 * n, 0, 8) for n in range(1, 11)]
    events += [(0, "realloc", NODE, 0, 16, 1 << 50)]
    events += [(0, "realloc", WORD, 4096, 32, 64)]
    events += [(0, "free", 0, 16 * n, 0, 0) for n in range(1, 11) if n != 2]
    lives = lives_of_events(events)
    assert (lives.sites[NODE].region_objects, lives.sites[NODE].regions) == (9, 1)
    assert lives.sites[WORD].never_freed == 1


def test_a_sketch_names_the_function_in_its_language() -> None:
    lives = lives_of_events(requests(60))
    found = regions(lives, {stack: site(stack) for stack in lives.sites}, 10_000)
    advice = Advice(
        heapwright_version="1",
        input=("job",),
        process=0,
        bytes=102_300,
        calls=10_000,
        regions=found,
        pools=(),
        pins=(Pin(function="pinner", pages=3, released_bytes=4096),),
        answer=sentence(found, 102_300),
    )
    text = "\n".join(details(advice))
    assert "region = heapwright_region_create(NULL); /* in serve */" in text
    assert "/* in makeNode, grow, copyWord */" in text
    assert "pinner: 4.0 KiB in 3 pages" in text


def test_a_name_is_bare() -> None:
    long = "int (anonymous namespace)::serve<A<B> >(Documents const&, unsigned) [clone .isra.0]"
    assert bare(long) == "{anonymous}::serve"
    assert bare("main") == "main"
    assert bare("a::Tree<b>::write(Value const*) const") == "a::Tree::write"


@pytest.mark.slow
@pytest.mark.parametrize("program", ["region-parser", "region-compiler"])
def test_four_fifths_of_the_bytes_that_a_program_kept_in_regions_are_named(
    program: str, tmp_path: Path
) -> None:
    """The same program without its regions, for the bytes that the regions have served."""
    own, asked = native.native_dir(), {}
    for way in ("general", "region"):
        trace = tmp_path / f"{way}.trace"
        work: list[str | Path] = [own / "workloads" / program, "--custom", way, "--scale", "0.01"]
        record = (sys.executable, "-m", "heapwright", "record", "--stacks", "-o", trace, "--")
        subprocess.run((*record, *work), check=True, capture_output=True)
        asked[way] = advice_of(trace)
    in_regions = asked["general"].bytes - asked["region"].bytes
    assert sum(each.bytes for each in asked["general"].regions) >= 0.8 * in_regions
    assert asked["general"].share > asked["region"].share
    assert run_advice((str(tmp_path / "general.trace"),), json_file=None, quiet=True) == 0
