# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A sample keeps an allocation and its free together, and says how large it is."""

import pytest

from .bench import Bench

BLOCKS = 20000


@pytest.mark.parametrize(("interval", "salt"), [(10, 1), (10, 2), (100, 3)])
def test_one_block_in_so_many(recording: Bench, interval: int, salt: int) -> None:
    options = ("--sample", str(interval), "--salt", str(salt))
    run = recording.record([recording.program("sampled.c")], *options)
    recording.sound(run)
    assert run.info.sample_interval == interval
    assert run.live() == {}  # and no block twice, nor freed without being there
    blocks = run.of_size(64).height
    assert 0.5 * BLOCKS / interval < blocks < 1.5 * BLOCKS / interval


def test_another_salt_is_another_sample(recording: Bench) -> None:
    program = recording.program("sampled.c")
    counts = [
        recording.record([program], "--sample", "10", "--salt", salt).said["events"]
        for salt in ("1", "77", "123456789")
    ]
    assert len(set(counts)) > 1
