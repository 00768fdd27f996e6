# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel trace becomes the bytes that the replay in a kernel reads, or is refused by its line."""

import re

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.patch import REPLAY, find_patch
from heapwright.kernel.replay_file import (
    ALL_CACHES,
    CACHE,
    EVENT,
    HEAD,
    MAGIC,
    ReplayFile,
    Verb,
    compact,
)

TRACE = """\
heapwright-kernel-trace 1
# a comment
kernel 6.1.90 slqb web small seed 1
cpus 2
memory 128 29000
cache 0 192 64 cr dentry
cache 1 704 8 -- files cache
events
p 0 0 8000001f 3 m
a 0 1 aa 1
k 1 400 0
m 5 0 bb 100
f 6 1 aa
a 7 1 aa 0
f 7 0 bb
s 8 0 *
s 8 1 1
k 9 420 1
end 10
"""


def events_of(file: ReplayFile) -> list[tuple[int, ...]]:
    """Verb, processor, place, cache or bytes, order, mobility."""
    _, caches, _, events, *_ = HEAD.unpack_from(file.data)
    first = HEAD.size + caches * CACHE.size
    assert len(file.data) == first + events * EVENT.size
    found: list[tuple[int, ...]] = []
    for place, what, verb, cpu, order, kind in EVENT.iter_unpack(file.data[first:]):
        found.append((verb, cpu, place, what, order, kind))
    return found


def test_every_event_has_its_place_and_a_free_repeats_the_kind_of_its_allocation() -> None:
    file = compact(TRACE.splitlines(keepends=True))
    assert events_of(file) == [
        (Verb.TAKE_PAGES, 0, 0, 0, 3, 1),
        (Verb.TAKE, 1, 1, 1, 0, 0),
        (Verb.MARK, 1, 0, 0, 0, 0),
        (Verb.TAKE_GENERAL, 0, 2, 100, 0, 0),
        (Verb.GIVE, 1, 1, 1, 0, 0),
        (Verb.TAKE, 1, 1, 0, 0, 0),
        (Verb.GIVE_GENERAL, 0, 2, 100, 0, 0),
        (Verb.SHRINK, 0, 0, ALL_CACHES, 0, 0),
        (Verb.SHRINK, 1, 0, 1, 0, 0),
        (Verb.MARK, 1, 0, 0, 0, 0),
        (Verb.GIVE_PAGES, 1, 0, 0, 3, 0),
        (Verb.GIVE, 1, 1, 0, 0, 0),
        (Verb.MARK, 1, 0, 0, 0, 0),
    ]


def test_the_head_separates_the_initial_state_the_timed_events_and_the_last_frees() -> None:
    file = compact(TRACE.splitlines())
    assert HEAD.unpack_from(file.data) == (MAGIC, 2, 3, 13, 2, 10, 3)
    assert (file.prelude, file.timed, file.cpus, file.memory_mib) == (2, 8, 2, 128)
    assert file.marks == 2


def test_caches_have_size_alignment_and_flags() -> None:
    data = compact(TRACE.splitlines()).data
    assert CACHE.unpack_from(data, HEAD.size) == (192, 64, 3)
    assert CACHE.unpack_from(data, HEAD.size + CACHE.size) == (704, 8, 0)


def test_a_trace_without_timed_events_is_all_initial_state() -> None:
    text = TRACE[: TRACE.index("k 1")] + "end 2\n"
    assert HEAD.unpack_from(compact(text.splitlines()).data)[4:] == (2, 2, 1)


def test_the_form_is_that_of_the_kernels_side() -> None:
    text = find_patch(REPLAY).path.read_text("utf-8")
    magic = re.search(r"REPLAY_MAGIC\s+0x([0-9a-f]+)ULL", text)
    assert magic is not None
    assert bytes.fromhex(magic[1])[::-1] == MAGIC
    verbs = re.search(r"enum replay_verb \{(.*?)VERBS", text, re.DOTALL)
    assert verbs is not None
    assert re.findall(r"[A-Z_]+", verbs[1]) == [verb.name for verb in Verb]
    for name, size in (("head", HEAD.size), ("cache", CACHE.size), ("event", EVENT.size)):
        body = re.search(rf"struct replay_{name} \{{(.*?)\}} __packed", text, re.DOTALL)
        assert body is not None
        fields = re.findall(r"^\+\t(__le64|__le32|u8) \w+;", body[1], re.MULTILINE)
        assert sum({"__le64": 8, "__le32": 4, "u8": 1}[each] for each in fields) == size


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (TRACE, "", "line 1: the trace is empty"),
        ("heapwright-kernel-trace 1", "gzip", "line 1: this is no kernel trace"),
        ("trace 1", "trace 2", "line 1: this heapwright reads kernel traces of format 1"),
        ("kernel 6.1.90 slqb web small seed 1\n", "", "line 3: expected `kernel VERSION`"),
        ("cpus 2", "cpus 9", "line 4: the number of processors is a number from 1 to 8, not 9"),
        ("cpus 2", "cpus 2 3", "line 4: expected `cpus N`"),
        ("memory 128 29000", "memory", "line 5: expected `memory MIB`"),
        ("cache 1 704", "cache 2 704", "line 7: the number of the cache is a number from 1 to 1"),
        ("704 8", "704 7", "line 7: the alignment is a power of two"),
        ("8 --", "8 xy", "line 7: flags are c or -, and r or -"),
        ("cache 0 192 64 cr dentry", "cache 0", "line 6: expected `cache NUMBER"),
        ("events\n", "event\n", "line 8: expected `cache …` or `events`"),
        ("a 0 1 aa 1", "a 0 1 aa 2", "line 10: the cache is a number from 0 to 1, not 2"),
        ("a 0 1 aa 1", "a 0 2 aa 1", "line 10: the processor is a number from 0 to 1, not 2"),
        ("a 0 1 aa 1", "a 0 1 aa", "line 10: expected `a TIME CPU ID CACHE`"),
        ("a 0 1 aa 1", "am 0 1 aa 1", "line 10: there is no event am"),
        ("a 0 1 aa 1", "a 0 1 -a 1", "line 10: the identity is a number"),
        ("p 0 0 8000001f 3 m", "p 0 0 1 11 m", "line 9: the order is a number from 0 to 10"),
        ("8000001f 3 m", "8000001f 3 mu", "line 9: the mobility is u, m or r, not mu"),
        ("m 5 0 bb 100", "m 5 0 aa 100", "line 12: aa is live already"),
        ("m 5 0 bb 100", "m 5 0 bb 4194305", "line 12: the size is a number"),
        ("f 6 1 aa", "f 4 1 aa", "line 13: the time decreases, from 5 to 4"),
        ("f 6 1 aa", "f 6 1 cc", "line 13: cc is freed, and is not live"),
        ("k 9 420 1", "k 9 420", "line 18: expected `k TIME SLAB_PAGES EVENTS`"),
        ("end 10\n", "", "line 19: the trace is cut off"),
        ("end 10", "end 11", "line 19: there are 10 events, not 11"),
        ("end 10\n", "end 10\n\nk 1 2 3\n", "line 21: nothing may follow `end`"),
        (TRACE[TRACE.index("p 0") :], "end 0\n", "the trace is empty: there is no event in it"),
        ("a 0 1 aa 1", "a ٣ 1 aa 1", "line 10: the time is a number"),
    ],
)
def test_an_invalid_trace_is_refused_with_its_line(old: str, new: str, said: str) -> None:
    assert old in TRACE
    with pytest.raises(HeapwrightError) as caught:
        compact(TRACE.replace(old, new, 1).splitlines())
    assert said in caught.value.message


def test_without_caches_no_event_may_name_one() -> None:
    text = TRACE.replace("cache 0 192 64 cr dentry\ncache 1 704 8 -- files cache\n", "")
    with pytest.raises(HeapwrightError, match="no cache is declared"):
        compact(text.splitlines())
