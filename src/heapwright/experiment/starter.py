# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Starts runners: one heapwright-run lives as long as this process and forks the others.

Executing a new program is the largest cost of a run. A fork of a running one costs a fifth of it.
The resident heapwright-run runs no command itself, keeps nothing of a run, and ends when this
process ends for any reason. native/runner/run/serve.hpp describes its protocol.
"""

import os
import signal
import socket
import struct
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock

from heapwright.base.errors import HeapwrightError

HEAD = struct.Struct("=III")
ANSWER = struct.Struct("=i")
IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores, but programs expect the default."""


class Starter:
    """The resident heapwright-run, started at its first use."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._socket: socket.socket | None = None
        self._lock = Lock()
        self.pid = 0
        """Process number of the resident one; 0 before its start."""

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], result: int) -> int:
        """The process number of a new heapwright-run, whose standard error is `result`.

        The number is not reused until the next one is started, also after its end. Raises
        HeapwrightError if it cannot be started.
        """
        request = _request(arguments, environment)
        with self._lock:
            with suppress(OSError):  # it was killed: start another
                return self._ask(request, result)
            try:
                return self._ask(request, result)
            except OSError as error:
                raise HeapwrightError(
                    f"{self._program} cannot be run: {error.strerror or error}"
                ) from error

    def _ask(self, request: bytes, result: int) -> int:
        if self._socket is None:
            self._socket, self.pid = _serving(self._program)
        try:
            return self._answer(self._socket, request, result)
        except BaseException:  # a late answer must not be taken for the next one
            self._socket.close()
            self._socket = None
            raise

    @staticmethod
    def _answer(connection: socket.socket, request: bytes, result: int) -> int:
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [result]))]
        sent = connection.sendmsg([request], passed)
        if sent < len(request):
            connection.sendall(memoryview(request)[sent:])
        answer = connection.recv(ANSWER.size, socket.MSG_WAITALL)
        if len(answer) != ANSWER.size:
            raise OSError("it does not answer")
        number: int = ANSWER.unpack(answer)[0]
        if number < 0:
            raise OSError(-number, os.strerror(-number))
        return number


def starter(program: Path) -> Starter:
    """The starter of this process; a fork has its own."""
    return _starter(program, os.getpid())


@cache
def _starter(program: Path, _process: int) -> Starter:
    return Starter(program)


def _serving(program: Path) -> tuple[socket.socket, int]:
    own, other = socket.socketpair()
    with other:
        pid = os.posix_spawn(
            program,
            [os.fspath(program), "--serve"],
            {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, other.fileno(), 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setsid=True,
            setsigdef=IGNORED_HERE,
        )
    return own, pid


def _request(arguments: Sequence[str], environment: Mapping[str, str]) -> bytes:
    variables = [f"{name}={text}" for name, text in environment.items()]
    texts = "\0".join([*arguments, *variables, ""])
    if texts.count("\0") != len(arguments) + len(variables):
        raise HeapwrightError("the command or a variable contains a zero byte")
    data = os.fsencode(texts)
    return HEAD.pack(len(data), len(arguments), len(variables)) + data
