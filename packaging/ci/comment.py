#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Comments on a merge request of GitLab or a pull request of GitHub with the answer of a gate.

    comment.py FOLDER

gate.sh calls it. FOLDER has comment.md and perhaps picture.svg. The variables of the job name the
service and the request. GATE_TOKEN is the token. GATE_COMMENT_SECONDS is the time for all requests
to the service (default: 60). Without a request to comment on, the program does nothing.

A request has one comment for each job. The first line of the comment is hidden and names the job.
A later run finds its comment by this line and by the author, and replaces the text.

The exit status is 1 if there should be a comment and there is none. One line on stderr has the
reason. No line contains the token, or text that the service sent. The program follows no redirect,
because another host would get the token. The job chooses what `python3` is, so 3.8 is enough.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import signal
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote

WAITS = (1, 3)
"""Seconds before the second and the third attempt."""
PAGES = 100
"""More pages of comments are not read."""
LONGEST_END = 500
"""A comment that is cut keeps its last paragraph up to this length: the link to the results."""

T = TypeVar("T")


class NoCommentError(Exception):
    """The reason, for the log."""


class RefusedError(NoCommentError):
    """The service answered with a status that is no success."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.passes = status == 429 or status >= 500  # a repetition may succeed


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the token elsewhere, and would turn a POST into a GET."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Service:
    """What both services have in common."""

    name: str
    limit: int  # characters of a comment
    comments: str  # the address of all comments on the request
    headers: dict[str, str]
    hints: dict[int, str]  # what to do for a status

    def __init__(self, authorities: str) -> None:
        context = ssl.create_default_context()
        if authorities:
            try:
                context.load_verify_locations(authorities)
            except OSError as error:
                raise NoCommentError(
                    f"{authorities} has no certificates: {error.strerror}"
                ) from None
        secure = urllib.request.HTTPSHandler(context=context)
        self.opener = urllib.request.build_opener(NoRedirect, secure)

    def own_name(self) -> object:
        """The account of the token."""
        raise NotImplementedError

    def author(self, comment: dict[str, Any]) -> object:
        """The account that wrote a comment."""
        raise NotImplementedError

    def update(self, number: int, body: str) -> None:
        raise NotImplementedError

    def upload(self, picture: bytes) -> str:  # noqa: ARG002
        """Markdown that shows the picture; empty if the service takes none."""
        return ""

    def create(self, body: str) -> None:
        self.call("POST", self.comments, {"body": body})

    def all_comments(self) -> Iterator[dict[str, Any]]:
        # GitLab hides some notes of a page, so a short page is not the last one.
        for page in range(1, PAGES + 1):
            found, more = self.call("GET", f"{self.comments}?per_page=100&page={page}")
            yield from found
            if not more:
                return
        raise NoCommentError(f"the request has more than {PAGES} pages of comments")

    def call(self, method: str, address: str, content: object = None) -> tuple[Any, bool]:
        """The answer, and whether another page follows. Content in bytes is a picture."""
        request = urllib.request.Request(address, method=method, headers=self.headers)
        if isinstance(content, bytes):
            boundary = secrets.token_hex(16)
            request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
            request.data = form(boundary, content)
        elif content is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(content).encode()
        try:
            with self.opener.open(request) as answer:
                text, links = answer.read(), answer.headers.get("Link", "")
        except urllib.error.HTTPError as error:
            error.close()
            hint = self.hints.get(error.code, "")
            reason = f"{self.name} answered {error.code}{hint and ': '}{hint}"
            raise RefusedError(error.code, reason) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", "") or type(error).__name__
            raise NoCommentError(f"{self.name} cannot be reached: {reason}") from None
        try:
            return json.loads(text), 'rel="next"' in links
        except ValueError:
            raise NoCommentError(f"{self.name} sent an answer that is not JSON") from None


class GitLab(Service):
    name = "GitLab"
    limit = 1_000_000

    def __init__(self, job: Mapping[str, str], token: str) -> None:
        super().__init__(job.get("CI_SERVER_TLS_CA_FILE", ""))
        # In the pipeline of a fork, CI_PROJECT_ID is the fork.
        project = job.get("CI_MERGE_REQUEST_PROJECT_ID") or job["CI_PROJECT_ID"]
        if not token:
            fork = job.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", project) != project
            where = "the pipeline of a fork has none" if fork else "store it as a masked variable"
            raise NoCommentError(f"GATE_TOKEN has no project access token: {where}")
        self.api = job["CI_API_V4_URL"]
        self.project = f"{self.api}/projects/{project}"
        self.comments = f"{self.project}/merge_requests/{job['CI_MERGE_REQUEST_IID']}/notes"
        self.headers = {"PRIVATE-TOKEN": token}
        self.hints = {
            401: "the token in GATE_TOKEN is invalid or has expired",
            403: "the token in GATE_TOKEN needs the scope api and the role Reporter",
            404: f"the token in GATE_TOKEN must be of the project {project}",
        }

    def own_name(self) -> object:
        return self.call("GET", f"{self.api}/user")[0]["id"]

    def author(self, comment: dict[str, Any]) -> object:
        return comment["author"]["id"]

    def update(self, number: int, body: str) -> None:
        self.call("PUT", f"{self.comments}/{number}", {"body": body})

    def upload(self, picture: bytes) -> str:
        return str(self.call("POST", f"{self.project}/uploads", picture)[0]["markdown"])


class GitHub(Service):
    name = "GitHub"
    limit = 65_536

    def __init__(self, job: Mapping[str, str], token: str, request: dict[str, Any]) -> None:
        super().__init__("")
        if not token:
            raise NoCommentError("the input `token` is empty")
        self.graphql = job["GITHUB_GRAPHQL_URL"]
        self.issues = f"{job['GITHUB_API_URL']}/repos/{job['GITHUB_REPOSITORY']}/issues"
        self.comments = f"{self.issues}/{request['number']}/comments"
        self.headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        missing = "give the job the permission `pull-requests: write`"
        if (request["head"]["repo"] or {}).get("id") != request["base"]["repo"]["id"]:
            missing = "the pull request is from a fork, whose token may only read"
        self.hints = {
            401: "the input `token` is invalid or has expired",
            403: missing,
            404: missing,
        }

    def own_name(self) -> object:
        # The token of a job may not ask /user.
        answer, _ = self.call("POST", self.graphql, {"query": "{viewer{login}}"})
        return answer["data"]["viewer"]["login"]

    def author(self, comment: dict[str, Any]) -> object:
        return (comment["user"] or {}).get("login")  # null: the account was deleted

    def update(self, number: int, body: str) -> None:
        self.call("PATCH", f"{self.issues}/comments/{number}", {"body": body})


def form(boundary: str, picture: bytes) -> bytes:
    """The body of a form with the picture as its file."""
    head = (
        f"--{boundary}\r\n"
        'Content-Disposition: form-data; name="file"; filename="picture.svg"\r\n'
        "Content-Type: image/svg+xml\r\n\r\n"
    )
    return head.encode() + picture + f"\r\n--{boundary}--\r\n".encode()


def service_of(job: Mapping[str, str], token: str) -> Service | None:
    """The service of this job; None: it does not run for a request."""
    if job.get("CI_MERGE_REQUEST_IID"):
        return GitLab(job, token)
    if job.get("GITHUB_EVENT_PATH"):
        event = json.loads(Path(job["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        if "pull_request" in event:
            return GitHub(job, token, event["pull_request"])
    return None


def marker_of(job: Mapping[str, str], folder: str) -> str:
    """The first line of the comment. The folder tells the jobs of a matrix on GitHub apart."""
    names = [job.get(each, "") for each in ("CI_JOB_NAME", "GITHUB_WORKFLOW", "GITHUB_JOB")]
    return f"<!-- heapwright-gate {quote('/'.join([*names, folder]), safe='')} -->"


def shortened(body: str, limit: int) -> str:
    """A body within the limit, cut at the end of a line. A short last paragraph stays."""
    if len(body) <= limit:
        return body
    last = body.rstrip().rpartition("\n\n")[2]
    end = "\n\n… This comment is cut. comment.md has the rest.\n"
    end += f"\n{last}\n" if len(last) <= LONGEST_END else ""
    kept = body[: limit - len(end) - len("\n```")].rpartition("\n")[0]
    return kept + ("\n```" if kept.count("```") % 2 else "") + end


def patiently(act: Callable[[], T]) -> T:
    """What `act` returns, with some repetitions while the service fails."""
    for wait in WAITS:
        try:
            return act()
        except RefusedError as error:
            if not error.passes:
                raise
        time.sleep(wait)
    return act()


def publish(service: Service, marker: str, folder: Path) -> str:
    """Comment once. Returns what happened."""
    author = patiently(service.own_name)
    sentence, _, rest = (folder / "comment.md").read_text(encoding="utf-8").partition("\n\n")
    picture = ""
    if (folder / "picture.svg").exists():
        drawing = (folder / "picture.svg").read_bytes()
        try:
            picture = patiently(lambda: service.upload(drawing))
        except RefusedError as error:
            say(f"the comment has no picture: {error}")
    body = "\n\n".join(filter(None, (marker, sentence, picture, rest)))
    body = shortened(body, service.limit)

    def write() -> str:
        # A repetition searches again, because the failed attempt may have left a comment.
        for comment in service.all_comments():
            if service.author(comment) == author and comment["body"].startswith(marker):
                service.update(comment["id"], body)
                return "updated the comment of an earlier run"
        service.create(body)
        return "wrote a comment"

    return patiently(write)


def expire(*_: object) -> NoReturn:
    raise NoCommentError("the service did not answer in time (GATE_COMMENT_SECONDS)")


def say(text: str) -> None:
    sys.stderr.write(f"comment.py: {text}\n")


def seconds_of(job: Mapping[str, str]) -> int:
    text = job.get("GATE_COMMENT_SECONDS") or "60"
    if not (text.isdecimal() and 0 < int(text) < 10_000):
        raise NoCommentError(f"GATE_COMMENT_SECONDS '{text}' is no number of seconds")
    return int(text)


def attempt(folder: str, token: str) -> str | None:
    """What happened; None if there is nothing to comment on. Raises NoCommentError."""
    try:
        service = service_of(os.environ, token)
        if service is None:
            return None
        signal.signal(signal.SIGALRM, expire)
        signal.alarm(seconds_of(os.environ))
        return publish(service, marker_of(os.environ, folder), Path(folder))
    except NoCommentError:
        raise
    except Exception as error:
        # The text of another exception may come from the service.
        what = repr(error) if isinstance(error, KeyError) else type(error).__name__
        raise NoCommentError(
            f"an answer or a variable of the job is not as expected: {what}"
        ) from None
    finally:
        signal.alarm(0)


def main() -> int:
    token = os.environ.get("GATE_TOKEN", "").strip()
    try:
        done = attempt(sys.argv[1], token)
    except NoCommentError as reason:
        text = f"no comment: {reason}"
        say(text.replace(token, "[token]") if token else text)
        return 1
    if done:
        say(done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
