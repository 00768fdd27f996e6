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
from .under import Launched, Under, needed

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


def port(server: Launched) -> int:
    """Where the server listens, once it has said so; 0 before."""
    said = re.search(r"port (\d+)", server.output.read_text()) if server.output.exists() else None
    return int(said[1]) if said else 0


def test_http_server_sends_what_is_there(under: Under) -> None:
    python = needed("python3", "python3")
    for size in SIZES:
        (under.home / f"{size}.bin").write_bytes(random.Random(size).randbytes(size))
    # Port 0: any that is free; the server says which, and listens by then.
    command = [python, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    extra = {"PYTHONMALLOC": "malloc"}
    with running(
        under, command, lambda server: port(server) != 0, extra=extra, dies=True
    ) as server:
        with ThreadPoolExecutor(CLIENTS) as pool:
            received = list(pool.map(partial(fetch, port(server), under.home), range(CLIENTS)))
        assert min(received) > 0
