# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Threads: each has a stream, however many there are and however they end."""

import polars as pl

from .bench import Bench, Recorded

ROUNDS = 4
"""How often the destructors of a thread's keys are called."""


def check(recording: Bench, run: Recorded, threads: int) -> None:
    assert run.said["exit_status"] == 0
    recording.sound(run)
    sizes = run.events().group_by("size").len().sort("size").rows()
    assert dict(sizes) | {111: 5 * threads, 222: threads, 333: ROUNDS * threads} == dict(sizes)
    live = [size for size in run.live().values() if size in (111, 222, 333)]
    assert live == []


def test_each_thread_has_a_stream_that_ends(recording: Bench) -> None:
    run = recording.record([recording.program("threads.c"), "5"])
    check(recording, run, 5)
    info = run.info
    assert len(info.threads) == 6
    assert [thread.ended for thread in info.threads] == [False] + [True] * 5
    assert len({thread.tid for thread in info.threads}) == 6


def test_frees_by_another_thread(recording: Bench) -> None:
    run = recording.record([recording.program("threads.c"), "5"])
    handed = run.of_size(222)
    assert sorted(handed["thread"].to_list()) == [1, 2, 3, 4, 5]
    frees = run.events().filter(
        pl.col("address").is_in(handed["address"].to_list()) & (pl.col("routine") == "free")
    )
    assert frees.filter(pl.col("thread") == 0).height >= 5


def test_ten_thousand_threads(recording: Bench) -> None:
    run = recording.record([recording.program("threads.c"), "10000", "250"])
    check(recording, run, 10000)
    assert len(run.info.threads) == 10001
    assert run.said["bytes"] < 10001 * 2 * 4096 + (1 << 20)  # a page each, and late frees


def test_a_forked_child_of_a_threaded_program(recording: Bench) -> None:
    run = recording.record([recording.program("fork_among_threads.c")], "--follow-children")
    recording.sound(run)
    assert run.said["exit_status"] == 0
    parent, *children = run.info.processes
    assert len(children) == 20
    assert {child.parent for child in children} == {parent.process}
    for child in children:
        assert run.events(child.process).filter(pl.col("size") == 444).height == 100
