# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag of the pools of the distribution's httpd, by valgrind: a table in Markdown.

The pools are emulated: each object is one of malloc, and is freed when its pool ends. One process
serves (`-X`), with the configuration of catalogue/studies/programs/httpd.sh. Each row is a server
from its start to its end, with a number of requests for one page. `one request` shows the start and
the end. `--json FOLDER` keeps the document of each run.
"""

import argparse
import http.client
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server import PATH, SCRIPT, answers, free_port

from heapwright.artefacts.drag.document import Drag
from heapwright.base import native
from heapwright.report.drag.words import increase, ratio
from heapwright.report.profile.words import memory

PATIENCE_S = 1200
ONCE = "one request"
PAGES = {
    ONCE: "small.txt",
    "small file": "small.txt",
    "page of parts": "page.shtml?number=7",
    "listing": "many/",
}
COLUMNS = ("pages", "total drag", "peak", "held at most", "needed at most", "objects")


class DragError(Exception):
    """A server could not be watched; the text says why."""


def missing() -> str | None:
    """What is needed and not here, as one sentence; None if all is."""
    if shutil.which("apache2", path=PATH) is None:
        return "apache2 is not installed (package apache2-bin)"
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (package valgrind)"
    try:
        native.library("apr-emulated")
    except native.NativeMissingError as error:
        return error.message
    return None


@contextmanager
def watched(folder: Path, port: int, document: Path) -> Iterator[None]:
    """A server that answers, under `heapwright drag`; afterwards the document is there."""
    subprocess.run([SCRIPT, "configure", folder, str(port)], env={"PATH": PATH}, check=True)
    httpd = shutil.which("apache2", path=PATH) or "apache2"
    server = [httpd, "-d", str(folder), "-f", str(folder / "httpd.conf"), "-X"]
    # The tool passes its own preloads on to the command.
    tool = [sys.executable, "-m", "heapwright", "drag", "-q", "--json", str(document), "--"]
    process = subprocess.Popen(
        [*tool, *server],
        env=os.environ | {"LD_PRELOAD": str(native.library("apr-emulated"))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        await_answers(process, folder, port)
        yield
        os.kill(int((folder / "httpd.pid").read_text()), signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE_S)
        if process.returncode != 0:
            raise DragError(f"heapwright drag left with {process.returncode}: {said}")
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate()


def await_answers(process: "subprocess.Popen[str]", folder: Path, port: int) -> None:
    """Return when the server has started."""
    deadline = time.monotonic() + PATIENCE_S
    while not ((folder / "httpd.pid").exists() and answers(port)):
        if process.poll() is not None:
            raise DragError(f"the server ended: {process.communicate()[1]}")
        if time.monotonic() > deadline:
            raise DragError(f"the server does not answer within {PATIENCE_S} s")
        time.sleep(0.05)  # between two looks; the condition decides


def ask(port: int, page: str, requests: int) -> None:
    """Requests on one connection; raises if one of the answers is wrong."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    lengths = set()
    for _ in range(requests):
        connection.request("GET", f"/{page}")
        answer = connection.getresponse()
        lengths.add(len(answer.read()))
        if answer.status != http.HTTPStatus.OK or len(lengths) > 1:
            raise DragError(
                f"an answer of {page} is wrong: status {answer.status}, {lengths} bytes"
            )
    connection.close()


def drag_of(page: str, requests: int, keep: Path | None = None) -> Drag:
    """The drag of a server that answered `requests` requests for the page."""
    with tempfile.TemporaryDirectory(prefix="heapwright-drag-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)  # for the user that the server changes to if root starts it
        port = free_port()
        document = folder / "drag.json"
        with watched(folder, port, document):
            ask(port, page, requests)
        if keep is not None:
            shutil.copy(document, keep)
        return Drag.model_validate_json(document.read_text(encoding="utf-8"))


def row(name: str, found: Drag) -> tuple[str, ...]:
    """The cells of one server."""
    return (
        name,
        ratio(found.total_drag),
        increase(found.peak_increase),
        memory(found.peak_held.bytes),
        memory(found.peak_needed.bytes),
        f"{found.objects:,}",
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=20, help="for each page")
    parser.add_argument("--page", choices=[*PAGES], action="append", help="only these")
    parser.add_argument("--json", type=Path, metavar="FOLDER", help="keep the documents there")
    arguments = parser.parse_args()
    if (lacking := missing()) is not None:
        parser.error(lacking)
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---|" + "--:|" * (len(COLUMNS) - 1), flush=True)
    for name in arguments.page or PAGES:
        keep = None
        if arguments.json is not None:
            arguments.json.mkdir(parents=True, exist_ok=True)
            keep = arguments.json / f"{name.replace(' ', '-')}.json"
        found = drag_of(PAGES[name], 1 if name == ONCE else arguments.requests, keep)
        print(f"| {' | '.join(row(name, found))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
