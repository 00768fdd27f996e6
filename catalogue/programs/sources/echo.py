# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The server and the client of the reference: answers each line with the same line.

echo.py serve PORT
echo.py ask PORT FILE TIMES
"""

import json
import socket
import socketserver
import sys
import time
from pathlib import Path


class Answering(socketserver.StreamRequestHandler):
    """Answers until the client goes."""

    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(line)


class Server(socketserver.ThreadingTCPServer):
    """On loopback, a thread for each client."""

    allow_reuse_address = True
    daemon_threads = True


def serve(port: int) -> None:
    """Until it is ended."""
    with Server(("127.0.0.1", port), Answering) as server:
        server.serve_forever()


def ask(port: int, file: str, times: int) -> None:
    """Send each line of a file, so often; print how many were answered in a second, and wrongly."""
    lines = Path(file).read_bytes().splitlines(keepends=True) * times
    began = time.perf_counter()
    wrong = 0
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        stream = connection.makefile("rwb")
        for line in lines:
            stream.write(line)
            stream.flush()
            wrong += stream.readline() != line
    seconds = time.perf_counter() - began
    sys.stdout.write(json.dumps({"answers": len(lines) / seconds, "wrong": wrong}) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        ask(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
