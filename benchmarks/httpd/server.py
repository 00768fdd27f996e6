# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution's httpd with the event MPM, on loopback, with a choice of pool libraries.

    with serving(Pools.REAP) as server:
        ask(server, "page.shtml", requests=1000)
        server.processor_ns()

It runs from a temporary folder of its own, configured by
catalogue/studies/programs/httpd.sh, and is ended by its process id. Only the standard library, and
the tool for where its compiled parts are: tests use this file as well.
"""

import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from heapwright.base import native

SCRIPT = Path(__file__).parents[2] / "catalogue" / "studies" / "programs" / "httpd.sh"
PATH = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
PATIENCE_S = 60
TRIES = 5


class Pools(StrEnum):
    """The library that serves the pools of the server."""

    STOCK = "stock"
    REAP = "reap"
    EMULATED = "emulated"


LIBRARIES = {Pools.REAP: "apr", Pools.EMULATED: "apr-emulated"}


class ServerError(Exception):
    """The server failed; the text contains its messages."""


def missing() -> str | None:
    """What is needed and not here, as one sentence; None if all is."""
    for program, package in (("apache2", "apache2-bin"), ("ab", "apache2-utils")):
        if shutil.which(program, path=PATH) is None:
            return f"{program} is not installed (package {package})"
    return None


def library_of(pools: Pools) -> Path | None:
    """What is preloaded for these pools; raises NativeMissingError where it was not built."""
    return native.library(LIBRARIES[pools]) if pools in LIBRARIES else None


def calculator() -> Path:
    """The calculator's module; it is built where the headers of httpd are."""
    return native.native_dir() / "httpd" / "mod_calculator.so"


@dataclass(frozen=True)
class Server:
    """A running server."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    def log(self) -> str:
        log = self.folder / "error.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def children(self) -> list[int]:
        """The processes that answer requests, as far as they live."""
        pid = self.process.pid
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def processor_ns(self) -> int:
        """Processor time of all threads of the children, as the scheduler counts it."""
        total = 0
        for child in self.children():
            for thread in Path(f"/proc/{child}/task").iterdir():
                with suppress(FileNotFoundError):
                    total += int((thread / "schedstat").read_text().split()[0])
        return total

    def own_bytes(self) -> int:
        """Anonymous memory of the children that is there, shared with their parent or not."""
        total = 0
        for child in self.children():
            text = Path(f"/proc/{child}/smaps_rollup").read_text()
            found = re.search(r"^Anonymous: +(\d+) kB", text, re.MULTILINE)
            total += int(found[1]) * 1024 if found else 0
        return total

    def restart_gracefully(self) -> None:
        """New children read the configuration again; the old ones end when their work is done."""
        before, old = self._resumed(), set(self.children())
        self.process.send_signal(signal.SIGUSR1)
        self._await(
            lambda: self._resumed() > before and not old & set(self.children()),
            "no graceful restart",
        )

    def stop(self) -> None:
        """An orderly end. Raises where it is none, or where a child died.

        A graceful stop: children of httpd that get the signal to end at once while they start can
        die of it, on any pools.
        """
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGWINCH)
        if self.process.wait(PATIENCE_S) != 0:
            raise ServerError(f"ended with status {self.process.returncode}:\n{self.log()}")
        if died := re.findall(
            r".*(?:exit signal|seg\w* fault|child process .* still).*", self.log()
        ):
            raise ServerError("\n".join(died))

    def _resumed(self) -> int:
        return self.log().count("resuming normal operations")

    def _await(self, condition: object, why: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        assert callable(condition)
        while not condition():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise ServerError(f"{why}:\n{self.log()}")
            time.sleep(0.01)  # between two looks; the condition decides

    def ready(self) -> None:
        self._await(lambda: self._resumed() > 0 and answers(self.port), "no answer")


def answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return int(chosen.getsockname()[1])


def environment(pools: Pools, allocator: Path | None) -> dict[str, str]:
    """What the server is started with: no more than it needs."""
    preloaded = [library for library in (library_of(pools), allocator) if library is not None]
    plain = {"PATH": PATH, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    if preloaded:
        plain["LD_PRELOAD"] = ":".join(map(str, preloaded))
    return plain


def start(
    folder: Path, pools: Pools, allocator: Path | None = None, wrapped: Sequence[str] = ()
) -> Server:
    """A server in `folder`, behind the words of `wrapped`; it may have ended at once, if another
    program has come by its port."""
    port = free_port()
    plain = {"PATH": PATH, "HTTPD_CALCULATOR": str(calculator())}
    plain |= {name: os.environ[name] for name in ("HTTPD_BC",) if name in os.environ}
    subprocess.run([SCRIPT, "configure", folder, str(port)], env=plain, check=True)
    httpd = shutil.which("apache2", path=PATH) or "apache2"
    words = [*wrapped, httpd, "-d", str(folder), "-f", str(folder / "httpd.conf"), "-DFOREGROUND"]
    with (folder / "said.txt").open("wb") as said:
        process = subprocess.Popen(
            words,
            env=environment(pools, allocator),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    return Server(folder, port, process)


@contextmanager
def serving(
    pools: Pools, allocator: Path | None = None, *, wrapped: Sequence[str] = ()
) -> Iterator[Server]:
    """A server that answers, for as long as the block runs; then it has to end in order."""
    for tried in range(TRIES):
        # Readable by the user that the server changes to if root starts it, and with a short path.
        with tempfile.TemporaryDirectory(prefix="heapwright-httpd-", dir="/tmp") as name:
            folder = Path(name)
            folder.chmod(0o755)
            server = start(folder, pools, allocator, wrapped)
            try:
                try:
                    server.ready()
                except ServerError:
                    if tried + 1 < TRIES and "Address already in use" in _said(server):
                        continue
                    raise
                yield server
                server.stop()
            finally:
                end(server.process)
        return


def _said(server: Server) -> str:
    return (server.folder / "said.txt").read_text(errors="replace") + server.log()


def end(process: subprocess.Popen[bytes]) -> None:
    """No process of the server's session is left."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def fetch(server: Server, page: str, body: bytes | None = None) -> tuple[int, bytes]:
    """One request; its status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    try:
        connection.request("GET" if body is None else "POST", f"/{page}", body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def ask(
    server: Server, page: str, *, requests: int, connections: int = 4, keep: bool = True
) -> None:
    """A load of ab; raises if one of the answers is not as long as the first, or none at all."""
    address = f"http://127.0.0.1:{server.port}/{page}"
    words = ["ab", "-q", *(["-k"] if keep else []), "-c", str(connections), "-n", str(requests)]
    done = subprocess.run(
        [*words, address], env={"PATH": PATH}, capture_output=True, text=True, check=False
    )
    wrong = done.returncode != 0 or "Non-2xx" in done.stdout
    if wrong or not re.search(r"^Failed requests: +0$", done.stdout, re.MULTILINE):
        raise ServerError(f"{address}: {done.stdout}{done.stderr}\n{server.log()}")
