# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""httpd sends the right content with each provider of its pools: Pages made and unmade, kept
connections, programs that it starts. It also does so with graceful restarts in the middle. Every
body is checked.
"""

import hashlib
import http.client
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.programs

CLIENTS = 4
REQUESTS = 40


def pages(folder: Path) -> dict[str, Callable[[str], bool]]:
    """Pages, and whether a body is the right one."""
    small = (folder / "pages" / "small.txt").read_text()
    large = (folder / "pages" / "large.txt").read_text()

    def listing(body: str) -> bool:
        names = {f"file-{number}.txt" for number in range(40)}
        return set(re.findall(r'href="(file-[^"]+)"', body)) == names

    return {
        "small.txt": lambda body: body == small,
        "large.txt": lambda body: body == large,
        "page.shtml": lambda body: "There is no number." in body and small in body,
        "page.shtml?number=42": lambda body: "It is said that number=42." in body and small in body,
        "many/": listing,
        "cgi/echo?word": lambda body: body == "GET word\n",
    }


def visit(server: Any, number: int, requests: int = REQUESTS) -> int:
    """Asks for the pages in turn by one connection that is kept; how many answers were right."""
    wanted = list(pages(server.folder).items())
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    right = 0
    for turn in range(requests):
        page, is_right = wanted[(turn + number) % len(wanted)]
        try:
            connection.request("GET", f"/{page}")
            answer = connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # The server may end a kept connection between two requests; then one asks again.
            connection.close()
            connection.request("GET", f"/{page}")
            answer = connection.getresponse()
        body = answer.read().decode()
        assert answer.status == 200
        assert is_right(body), f"{page}: {body[:400]}"
        right += 1
    connection.close()
    return right


def test_pages_are_right(server: Any) -> None:
    with ThreadPoolExecutor(CLIENTS) as clients:
        right = list(clients.map(partial(visit, server), range(CLIENTS)))
    assert right == [REQUESTS] * CLIENTS


def test_input_and_output_of_a_program_pass_through(server: Any, httpd: ModuleType) -> None:
    body = (
        b"".join(hashlib.sha256(bytes([n])).digest() for n in range(256)) * 4
    )  # less than a pipe holds
    status, answer = httpd.fetch(server, "cgi/echo?a+query", body)
    assert status == 200
    assert answer == b"POST a+query\n" + body


def test_graceful_restarts_in_the_middle_of_work(server: Any) -> None:
    """Old children finish what they have begun, new ones take over, and no client notices."""
    done = threading.Event()

    def keep_visiting(number: int) -> int:
        right = 0
        while not done.is_set():
            right += visit(server, number, requests=6)
        return right

    before = server.children()
    with ThreadPoolExecutor(CLIENTS) as clients:
        visits = [clients.submit(keep_visiting, number) for number in range(CLIENTS)]
        try:
            for _ in range(2):
                server.restart_gracefully()
        finally:
            done.set()
        assert all(visit.result() > 0 for visit in visits)
    assert not set(before) & set(server.children())


def test_the_server_runs_on_the_pools_that_it_should(
    server: Any, httpd: ModuleType, request: pytest.FixtureRequest
) -> None:
    library = httpd.library_of(httpd.Pools(request.node.callspec.params["server"]))
    for child in server.children():
        maps = Path(f"/proc/{child}/maps").read_text()
        assert ("libheapwright-apr" in maps) == (library is not None)
        assert library is None or str(library.resolve()) in maps
