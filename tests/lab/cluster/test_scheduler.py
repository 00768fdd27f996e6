# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Where hosts are met, and what is said when they cannot be."""

import asyncio
import os
import socket
import sys
from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.cluster import scheduler
from heapwright.cluster.certificate import temporary_certificate
from heapwright.cluster.dask_package import forget_settings, need_dask
from heapwright.cluster.scheduler import SchedulerPlace, connected, workers_over_ssh
from heapwright.cluster.worker import read_address, serve

pytest.importorskip("distributed", reason="Dask distributed is not installed (extra cluster)")


def test_without_an_address_no_scheduler_is_started() -> None:
    with connected(None) as client:
        assert client is None


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(HeapwrightError, match="not installed") as refusal:
        need_dask()
    assert "heapwright[cluster]" in refusal.value.hint


def test_variables_of_dask_do_not_reach_runs(
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
            pytest.raises(HeapwrightError, match="the scheduler cannot listen"),
            connected(SchedulerPlace(listen=f"127.0.0.1:{port}")),
        ):
            pass


def test_an_address_without_a_scheduler_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "CONNECTING_S", 0.5)
    with (
        pytest.raises(HeapwrightError, match="no scheduler at"),
        connected(SchedulerPlace(scheduler="tcp://127.0.0.1:9")),
    ):
        pass
    monkeypatch.setattr("heapwright.cluster.worker.WAITED_S", 0.5)
    with pytest.raises(HeapwrightError, match="no scheduler at"):
        serve("tcp://127.0.0.1:9", lambda: None)


@pytest.mark.parametrize(
    "text", ["foo", "", "tcp://", "host:", "host:0", "host:65536", "http://host:1", "a b:1", "x:y"]
)
def test_invalid_addresses(text: str) -> None:
    with pytest.raises(HeapwrightError, match="is no address of a scheduler") as refusal:
        read_address(text, None)
    assert "tls://HOST:PORT" in refusal.value.hint


def test_an_address_has_the_scheme_of_its_connections(tmp_path: Path) -> None:
    pem = tmp_path / "x.pem"
    assert read_address("host:8786", None) == "tcp://host:8786"
    assert read_address("host:8786", pem) == "tls://host:8786"
    assert read_address("tls://[::1]:1", pem) == "tls://[::1]:1"
    with pytest.raises(HeapwrightError, match="needs the certificate"):
        read_address("tls://host:1", None)
    with pytest.raises(HeapwrightError, match="plain connections"):
        read_address("tcp://host:1", pem)


def test_a_worker_without_the_certificate_of_the_study_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("heapwright.cluster.worker.WAITED_S", 1)
    came: list[str] = []
    with connected(SchedulerPlace(listen="127.0.0.1:0")) as meeting:
        assert meeting is not None
        assert meeting.address.startswith("tls://")
        plain = meeting.address.replace("tls://", "tcp://")
        with temporary_certificate() as another:
            for address, certificate in ((meeting.address, another), (plain, None)):
                with pytest.raises(HeapwrightError, match="takes this worker"):
                    serve(address, lambda: came.append("connected"), certificate)
        assert not meeting.client.scheduler_info()["workers"]
    assert came == []


def test_without_openssl_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(HeapwrightError, match="openssl") as refusal, temporary_certificate():
        pass
    assert "--insecure" in refusal.value.hint


def test_the_certificate_reaches_a_host_by_standard_input_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "ssh"
    fake.write_text(f'#!/bin/sh\ncat > {tmp_path}/given\necho "$@" >> {tmp_path}/said\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    said = tmp_path / "said"
    with temporary_certificate() as pem:
        with workers_over_ssh(("one",), "tls://here:1", pem):
            while not said.exists() or not said.read_text():
                pass
        assert (tmp_path / "given").read_bytes() == pem.read_bytes()
    assert said.read_text().rstrip().endswith("study worker tls://here:1 --certificate -")
    assert not pem.exists()


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


def test_a_host_without_an_address_is_refused_before_anything_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def waited(_: object) -> None:
        pytest.fail("a worker was started")

    monkeypatch.setattr(asyncio, "run", waited)
    with pytest.raises(HeapwrightError, match=r"the host 'nohost\.invalid' has no address"):
        serve("tcp://nohost.invalid:8786", lambda: None)
