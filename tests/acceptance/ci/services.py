# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A server on loopback with the parts of the APIs of GitLab and GitHub that a comment needs.

It has request 5 of project 7, which is `owner/records`. It refuses requests without the token,
changes of the comments of other accounts, and texts that are too long.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "secret-6f1d2c"
ACCOUNT = {"id": 41, "login": "records-bot"}
OTHER = {"id": 42, "login": "reader"}
PAGE = 2
"""Comments on a page, whatever the client requests."""
LIMITS = {"gitlab": 1_000_000, "github": 65_536}
COMMENTS = {
    "gitlab": "/projects/7/merge_requests/5/notes",
    "github": "/repos/owner/records/issues/5/comments",
}
COMMENT = {
    "gitlab": "PUT /projects/7/merge_requests/5/notes/",
    "github": "PATCH /repos/owner/records/issues/comments/",
}


@dataclass
class Service:
    """What the server has, and how it misbehaves."""

    product: str
    comments: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    uploads: list[bytes] = field(default_factory=list)
    failures: dict[str, list[int]] = field(default_factory=dict)
    """Statuses of the next answers, by the start of `METHOD path`."""
    raw: bytes | None = None
    """Replaces the body of each answer."""
    silent: bool = False
    """Accept requests, and never answer."""
    address: str = ""
    stopped: threading.Event = field(default_factory=threading.Event)

    def add(self, body: str, account: dict[str, Any] | None) -> dict[str, Any]:
        comment = {"id": len(self.comments) + 100, "body": body}
        self.comments.append(comment | {"author": account, "user": account})
        return comment

    def bodies(self) -> list[str]:
        return [comment["body"] for comment in self.comments]

    def variables(self, folder: Path) -> dict[str, str]:
        """The variables of a job for the request; on GitHub its event is a file in the folder."""
        if self.product == "gitlab":
            return {
                "CI_API_V4_URL": self.address,
                "CI_JOB_NAME": "gate -->",
                "CI_MERGE_REQUEST_IID": "5",
                "CI_MERGE_REQUEST_PROJECT_ID": "7",
                "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "7",
                "CI_PROJECT_ID": "7",
            }
        repository = {"repo": {"id": 7}}
        event = {"pull_request": {"number": 5, "head": repository, "base": repository}}
        (folder / "event.json").write_text(json.dumps(event), encoding="utf-8")
        return {
            "GITHUB_API_URL": self.address,
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_GRAPHQL_URL": f"{self.address}/graphql",
            "GITHUB_JOB": "gate -->",
            "GITHUB_REPOSITORY": "owner/records",
            "GITHUB_WORKFLOW": "memory",
        }

    def sent(self, start: str) -> int:
        """How many requests start so."""
        return sum(each.startswith(start) for each in self.requests)

    def answer(self, request: str, text: bytes) -> tuple[int, Any]:
        """The status and the document for a request of the account."""
        if request.startswith(COMMENT[self.product]):
            number, body = int(request.rpartition("/")[2]), json.loads(text)["body"]
            (found,) = (each for each in self.comments if each["id"] == number)
            if found["author"] != ACCOUNT or not self.fits(body):
                return 403, {}
            found["body"] = body
            return 200, found
        if request == f"GET {COMMENTS[self.product]}":
            return 200, self.comments
        if request == f"POST {COMMENTS[self.product]}":
            body = json.loads(text)["body"]
            return (201, self.add(body, ACCOUNT)) if self.fits(body) else (422, {})
        return self.gitlab(request, text) if self.product == "gitlab" else self.github(request)

    def gitlab(self, request: str, text: bytes) -> tuple[int, Any]:
        if request == "GET /user":
            return 200, ACCOUNT
        if request == "POST /projects/7/uploads":
            self.uploads.append(text)
            address = f"/uploads/{len(self.uploads)}/picture.svg"
            return 201, {"markdown": f"![picture.svg]({address})"}
        return 404, {}

    def github(self, request: str) -> tuple[int, Any]:
        if request == "POST /graphql":
            return 200, {"data": {"viewer": {"login": ACCOUNT["login"]}}}
        return 404, {}

    def fits(self, body: str) -> bool:
        return len(body) <= LIMITS[self.product]


class Handler(BaseHTTPRequestHandler):
    service: Service

    def handle_one(self) -> None:
        service = self.service
        split = urlsplit(self.path)
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = f"{self.command} {split.path}"
        service.requests.append(request)
        if service.silent:
            service.stopped.wait()
            return
        token = self.headers.get("PRIVATE-TOKEN") or self.headers.get("Authorization", "")
        failure = next(
            (
                statuses.pop(0)
                for start, statuses in service.failures.items()
                if request.startswith(start) and statuses
            ),
            200,
        )
        status: int = 401
        answer: Any = {}
        if token.removeprefix("Bearer ") == TOKEN and not 300 <= failure < 500:
            status, answer = service.answer(request, text)
        if failure != 200:  # a failure of the server comes after the effect
            status, answer = failure, {"message": f"a secret of the server, {token}"}
        links = ""
        if isinstance(answer, list):
            first = (int(parse_qs(split.query)["page"][0]) - 1) * PAGE
            links = '<https://example.org>; rel="next"' if answer[first + PAGE :] else ""
            answer = answer[first : first + PAGE]
        self.send_response(status)
        self.send_header("Link", links)
        if status in (301, 302):
            self.send_header("Location", f"{service.address}/elsewhere")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode() if service.raw is None else service.raw)

    do_GET = do_POST = do_PUT = do_PATCH = handle_one  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Without the lines that the class writes to stderr."""


@contextmanager
def served(product: str) -> Iterator[Service]:
    """A service that answers until the end of the block."""
    service = Service(product)
    handler = type("Handler", (Handler,), {"service": service})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        service.address = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield service
        finally:
            service.stopped.set()
            server.shutdown()
