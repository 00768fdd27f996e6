# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Where hosts are met, and what is said when they cannot be."""

import os
import socket
import sys
from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.cluster import scheduler
from heapwright.cluster.dask_package import forget_settings, need_dask
from heapwright.cluster.scheduler import SchedulerPlace, connected, workers_over_ssh
from heapwright.cluster.worker import serve

pytest.importorskip("distributed", reason="Dask distributed is not installed (extra cluster)")


def test_nothing_asked_for_is_nothing_begun() -> None:
    with connected(None) as client:
        assert client is None


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(HeapwrightError, match="not installed") as refusal:
        need_dask()
    assert "heapwright[cluster]" in refusal.value.hint


def test_what_dask_sets_for_its_workers_does_not_reach_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    forget_settings()
    assert "MALLOC_TRIM_THRESHOLD_" not in os.environ
    assert os.environ["OMP_NUM_THREADS"] == "7"  # the user's own


@pytest.mark.parametrize("listen", ["nonsense", "host:port", ""])
def test_a_place_that_cannot_be_read(listen: str) -> None:
    with pytest.raises(HeapwrightError), connected(SchedulerPlace(listen=listen or "x")):
        pass


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(HeapwrightError, match="nobody can be let in"),
            connected(SchedulerPlace(listen=f"127.0.0.1:{port}")),
        ):
            pass


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "CONNECTING_S", 0.5)
    with (
        pytest.raises(HeapwrightError, match="no scheduler at"),
        connected(SchedulerPlace(scheduler="tcp://127.0.0.1:9")),
    ):
        pass
    monkeypatch.setattr("heapwright.cluster.worker.WAITED_S", 0.5)
    with pytest.raises(HeapwrightError, match="no scheduler at"):
        serve("tcp://127.0.0.1:9")


def test_workers_are_started_over_ssh_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "ssh"
    fake.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\nexec sleep 1000\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    said = tmp_path / "said"
    with workers_over_ssh(("one", "two"), "tcp://here:1"):
        while not said.exists() or len(said.read_text().splitlines()) < 2:
            pass
    lines = sorted(said.read_text().splitlines())
    assert [line.split(" -T ")[1] for line in lines] == [
        "one heapwright study worker tcp://here:1",
        "two heapwright study worker tcp://here:1",
    ]


def test_an_option_is_no_host() -> None:
    with pytest.raises(HeapwrightError, match="is no host"), workers_over_ssh(("-oX=y",), "a"):
        pass
