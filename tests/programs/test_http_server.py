# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A web server that starts a thread for each connection; every body is checked."""

import http.client
import random
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from .servers import running
from .under import Under, needed

CLIENTS = 4
REQUESTS = 60
SIZES = (0, 1, 100, 4096, 30_000, 200_000, 1_000_000)


def fetch(port: int, folder: Path, number: int) -> int:
    """Ask for the files in an order of one's own; returns the bytes received."""
    chosen = random.Random(number)
    received = 0
    for _ in range(REQUESTS):
        size = chosen.choice(SIZES)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", f"/{size}.bin")
        body = connection.getresponse().read()
        connection.close()
        assert body == (folder / f"{size}.bin").read_bytes()
        received += len(body)
    return received


def test_http_server_sends_what_is_there(under: Under) -> None:
    python = needed("python3", "python3")
    folder = under.home
    for size in SIZES:
        (folder / f"{size}.bin").write_bytes(random.Random(size).randbytes(size))
    log = under.home / "server.log"
    # Port 0: any that is free; the server says which, and listens by then.
    command = [python, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]

    def port() -> int:
        said = re.search(r"port (\d+)", log.read_text())
        return int(said[1]) if said else 0

    extra = {"PYTHONMALLOC": "malloc"}
    with running(under, command, lambda: port() != 0, extra) as server:
        with ThreadPoolExecutor(CLIENTS) as pool:
            received = list(pool.map(partial(fetch, port(), folder), range(CLIENTS)))
        assert min(received) > 0
    assert server.returncode == -15  # by our SIGTERM, not by any other signal
