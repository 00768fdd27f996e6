# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""memcached with four threads under clients that check every value they get back."""

import hashlib
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .servers import accepts, running
from .under import Under, needed

CLIENTS = 6
ROUNDS = 1500
KEYS = 150
# Far more than the clients keep, so that nothing is thrown out and every answer is known.
MEMORY_MIB = 512


@pytest.fixture
def address(under: Under) -> Iterator[Path]:
    """The socket of a running memcached."""
    program = needed("memcached", "memcached")
    # A socket's path has to be short, which the folders of pytest are not.
    with tempfile.TemporaryDirectory(prefix="hw-", dir="/tmp") as folder:
        path = Path(folder) / "socket"
        options = ["-s", str(path), "-t", "4", "-m", str(MEMORY_MIB), "-M", "-c", "64"]
        if os.geteuid() == 0:
            options += ["-u", "root"]  # it needs the name of the user to become
        with running(under, [program, *options], lambda _: accepts(path)):
            yield path


class Client:
    """One connection, one thread, its own keys, and what it knows to be stored."""

    def __init__(self, address: Path, number: int):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(address))
        self.replies = self.socket.makefile("rb")
        self.random = random.Random(number)
        self.number = number
        self.stored: dict[bytes, bytes] = {}

    def close(self) -> None:
        self.replies.close()
        self.socket.close()

    def work(self) -> int:
        """A mix of sets, gets of several keys, appends and deletes; returns the values checked."""
        checked = 0
        for turn in range(ROUNDS):
            key = b"key-%d-%d" % (self.number, self.random.randrange(KEYS))
            action = self.random.random()
            if action < 0.4:
                self.store(key, self.value(turn))
            elif action < 0.8:
                others = self.random.sample(sorted(self.stored), min(3, len(self.stored)))
                checked += self.fetch({key, *others})
            elif action < 0.9:
                self.append(key, self.value(turn)[:2000])
            else:
                self.remove(key)
        return checked + self.fetch(set(self.stored))

    def value(self, turn: int) -> bytes:
        """Sizes from nothing to 900 kB, the small ones far more often."""
        size = int(900_000 ** self.random.random()) - 1
        seed = hashlib.sha256(b"%d %d" % (self.number, turn)).digest()
        return (seed * (size // len(seed) + 1))[:size]

    def store(self, key: bytes, value: bytes) -> None:
        self.socket.sendall(b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value))
        assert self.replies.readline() == b"STORED\r\n"
        self.stored[key] = value

    def append(self, key: bytes, value: bytes) -> None:
        if len(self.stored.get(key, b"")) + len(value) > 1_000_000:
            return
        self.socket.sendall(b"append %s 0 0 %d\r\n%s\r\n" % (key, len(value), value))
        known = key in self.stored
        assert self.replies.readline() == (b"STORED\r\n" if known else b"NOT_STORED\r\n")
        if known:
            self.stored[key] += value

    def remove(self, key: bytes) -> None:
        self.socket.sendall(b"delete %s\r\n" % key)
        known = self.stored.pop(key, None) is not None
        assert self.replies.readline() == (b"DELETED\r\n" if known else b"NOT_FOUND\r\n")

    def fetch(self, keys: set[bytes]) -> int:
        self.socket.sendall(b"get %s\r\n" % b" ".join(sorted(keys)) if keys else b"mn\r\n")
        found = {}
        while (line := self.replies.readline()) not in (b"END\r\n", b"MN\r\n"):
            word, key, _, size = line.split()
            assert word == b"VALUE"
            found[key] = self.replies.read(int(size))
            assert self.replies.read(2) == b"\r\n"
        assert found == {key: self.stored[key] for key in keys if key in self.stored}
        return len(found)


@pytest.mark.programs
def test_memcached_keeps_what_it_is_given(address: Path) -> None:
    clients = [Client(address, number) for number in range(CLIENTS)]
    try:
        with ThreadPoolExecutor(CLIENTS) as pool:
            checked = list(pool.map(Client.work, clients))
    finally:
        for client in clients:
            client.close()
    assert min(checked) > ROUNDS / 2
