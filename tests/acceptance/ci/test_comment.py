# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The comment of the templates, on a server that has the APIs of both services."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.running import ran

from .services import ACCOUNT, COMMENTS, OTHER, TOKEN, Service, served

CI = Path(__file__).parents[3] / "packaging" / "ci"
SENTENCE = "**Larger: new: 17 % more memory (17 to 17) relative to base; margin 5 %**"
COMMENT = f"""{SENTENCE}

```text
new  memory  ░░├o┤
```

| treatment | figure |
| --- | --- |
| new | memory |
"""
HEAPWRIGHT = """#!/bin/bash
echo "$1 ${GATE_TOKEN-has no token}"
while [ $# -gt 0 ]; do
    case $1 in
        --json) echo '{}' >"$2" ;;
        --markdown) cp comment "$2" ;;
        --svg) echo '<svg/>' >"$2" ;;
        gate) status=10 ;;
    esac
    shift
done
exit "${status:-0}"
"""


@dataclass(frozen=True)
class Job:
    """A job for a request, in a folder with an answer."""

    folder: Path
    service: Service
    variables: dict[str, str]

    def comment(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run comment.py alone."""
        command = [sys.executable, "-I", CI / "comment.py", "results"]
        return ran([*map(str, command)], cwd=self.folder, env=self.variables | variables)

    def gate(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run gate.sh with a `heapwright` whose answer is COMMENT and status 10."""
        program = self.folder / "heapwright"
        program.write_text(HEAPWRIGHT, encoding="utf-8")
        program.chmod(0o755)
        (self.folder / "comment").write_text(COMMENT, encoding="utf-8")
        settings = {
            "PATH": f"{self.folder}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GATE_COMMAND": "{build}/program",
            "GATE_BASE": ".",
            "GATE_NEW": ".",
            "GATE_FOLDER": "results",
        }
        environment = self.variables | settings | variables
        return ran([str(CI / "gate.sh")], cwd=self.folder, env=environment)

    def fork(self) -> dict[str, str]:
        """The variables that differ in a job of a fork."""
        event = self.folder / "event.json"
        if event.exists():
            request = json.loads(event.read_text(encoding="utf-8"))
            request["pull_request"]["head"]["repo"] = None
            event.write_text(json.dumps(request), encoding="utf-8")
        return {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "8", "CI_PROJECT_ID": "8"}


@pytest.fixture(params=["gitlab", "github"])
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Job]:
    results = tmp_path / "results"
    results.mkdir()
    (results / "comment.md").write_text(COMMENT, encoding="utf-8")
    (results / "picture.svg").write_text("<svg/>", encoding="utf-8")
    with served(request.param) as service:
        variables = {"GATE_TOKEN": TOKEN, "GATE_COMMENT_SECONDS": "600"}
        variables |= service.variables(tmp_path)
        yield Job(tmp_path, service, variables)


github = pytest.mark.parametrize("job", ["github"], indirect=True)
gitlab = pytest.mark.parametrize("job", ["gitlab"], indirect=True)


def line(done: subprocess.CompletedProcess[str], status: int = 1) -> str:
    """The one line that comment.py wrote. No output may contain the token or the server's text."""
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert TOKEN not in done.stderr
    assert "secret of the server" not in done.stderr
    (text,) = done.stderr.splitlines()
    return text.removeprefix("comment.py: ")


def test_a_request_has_one_comment_after_two_runs(job: Job) -> None:
    assert line(job.comment(), 0) == "wrote a comment"
    first = job.service.bodies()
    picture = {"gitlab": "![picture.svg](/uploads/1/picture.svg)\n\n", "github": ""}
    marker, _, text = first[0].partition("\n\n")
    assert text == COMMENT.replace("\n\n", f"\n\n{picture[job.service.product]}", 1)
    assert marker.startswith("<!-- heapwright-gate ")
    assert marker.index("-->") == len(marker) - 3
    new = COMMENT.replace("17 %", "18 %")
    (job.folder / "results" / "comment.md").write_text(new, encoding="utf-8")
    assert line(job.comment(), 0) == "updated the comment of an earlier run"
    (second,) = job.service.bodies()
    assert second.startswith(marker)
    assert "new: 18 % more memory" in second


@gitlab
def test_the_picture_is_uploaded_as_a_file(job: Job) -> None:
    job.comment()
    (form,) = job.service.uploads
    head, _, rest = form.partition(b"\r\n\r\n")
    assert b'name="file"; filename="picture.svg"' in head
    assert rest.startswith(b"<svg/>\r\n--")


@gitlab
def test_a_picture_that_is_refused_leaves_the_text(job: Job) -> None:
    job.service.failures["POST /projects/7/uploads"] = [413]
    done = job.comment()
    assert done.returncode == 0
    assert "the comment has no picture: GitLab answered 413\n" in done.stderr
    assert [COMMENT in body for body in job.service.bodies()] == [True]


def test_each_job_has_its_comment(job: Job) -> None:
    job.comment()
    job.comment(CI_JOB_NAME="gate 2", GITHUB_JOB="gate-2")
    assert [SENTENCE in body for body in job.service.bodies()] == [True, True]


def test_the_comment_is_found_on_a_later_page(job: Job) -> None:
    for number in range(4):
        job.service.add(f"comment {number}", OTHER)
    job.comment()
    job.service.add("a later comment", OTHER)
    assert line(job.comment(), 0) == "updated the comment of an earlier run"
    assert len(job.service.comments) == 6


def test_comments_of_others_stay(job: Job) -> None:
    job.comment()
    own = job.service.comments.pop()
    quoted = f"> {own['body']}\n\nWhy?"
    job.service.add(own["body"], OTHER)
    job.service.add(quoted, ACCOUNT)
    if job.service.product == "github":
        job.service.add(own["body"], None)  # the account was deleted
    others = job.service.bodies()
    assert line(job.comment(), 0) == "wrote a comment"
    assert job.service.bodies()[:-1] == others
    assert job.service.bodies()[-1].startswith("<!-- heapwright-gate ")


def test_a_job_without_a_token_keeps_the_status_of_the_gate(job: Job) -> None:
    done = job.gate(GATE_TOKEN="")
    assert done.returncode == 10
    reason = {
        "gitlab": "GATE_TOKEN has no project access token: store it as a masked variable",
        "github": "the input `token` is empty",
    }[job.service.product]
    assert done.stderr == f"comment.py: no comment: {reason}\n"
    assert job.service.requests == []


@gitlab
def test_the_pipeline_of_a_fork_has_no_token(job: Job) -> None:
    text = line(job.comment(GATE_TOKEN="", **job.fork()))
    assert text.endswith("has no project access token: the pipeline of a fork has none")


def test_the_gate_comments_and_hides_the_token_from_the_builds(job: Job) -> None:
    done = job.gate()
    assert done.returncode == 10
    assert done.stderr == "comment.py: wrote a comment\n"
    assert done.stdout == "compare has no token\ngate has no token\n"
    assert [SENTENCE in body for body in job.service.bodies()] == [True]


def test_a_gate_outside_of_a_request_makes_no_comment(job: Job) -> None:
    (job.folder / "event.json").write_text('{"ref": "refs/heads/main"}', encoding="utf-8")
    done = job.gate(CI_MERGE_REQUEST_IID="")
    assert (done.returncode, done.stderr) == (10, "")
    assert job.service.requests == []


def test_a_fork_whose_token_may_only_read_keeps_the_status(job: Job) -> None:
    job.service.failures[f"POST {COMMENTS[job.service.product]}"] = [403]
    done = job.gate(**job.fork())
    assert done.returncode == 10
    reason = {
        "gitlab": "the token in GATE_TOKEN needs the scope api and the role Reporter",
        "github": "the pull request is from a fork, whose token may only read",
    }[job.service.product]
    assert done.stderr.endswith(f" answered 403: {reason}\n")
    assert done.stderr.startswith("comment.py: no comment: ")
    assert job.service.comments == []


@pytest.mark.parametrize(
    ("job", "status", "hint"),
    [
        ("gitlab", 401, ": the token in GATE_TOKEN is invalid or has expired"),
        ("gitlab", 404, ": the token in GATE_TOKEN must be of the project 7"),
        ("github", 403, ": give the job the permission `pull-requests: write`"),
        ("gitlab", 302, ""),
        ("github", 302, ""),
    ],
    indirect=["job"],
)
def test_a_refusal_is_explained_once(job: Job, status: int, hint: str) -> None:
    job.service.failures[f"GET {COMMENTS[job.service.product]}"] = [status]
    assert line(job.comment()).endswith(f" answered {status}{hint}")
    assert job.service.sent(f"GET {COMMENTS[job.service.product]}") == 1
    assert job.service.sent("GET /elsewhere") == 0


def test_a_failure_of_the_service_is_tried_again(job: Job) -> None:
    job.service.failures[f"POST {COMMENTS[job.service.product]}"] = [502]
    assert line(job.comment(), 0) == "updated the comment of an earlier run"
    assert [SENTENCE in body for body in job.service.bodies()] == [True]


@gitlab
def test_a_failure_that_stays_ends_the_attempts(job: Job) -> None:
    job.service.failures["GET /user"] = [500] * 9
    assert line(job.comment()) == "no comment: GitLab answered 500"
    assert job.service.sent("GET /user") == 3


@pytest.mark.parametrize("answer", [b"<html>", b"\xff\xfe", b"[]", b'{"data": {}}'])
@github
def test_an_answer_of_another_form_is_no_traceback(job: Job, answer: bytes) -> None:
    job.service.raw = answer
    text = line(job.comment())
    assert text.startswith(
        (
            "no comment: GitHub sent an answer that is not JSON",
            "no comment: an answer or a variable of the job is not as expected: ",
        )
    )


def test_a_service_that_does_not_answer_ends_with_the_time(job: Job) -> None:
    job.service.silent = True
    done = job.gate(GATE_COMMENT_SECONDS="1")
    assert done.returncode == 10
    assert "no comment: the service did not answer in time (GATE_COMMENT_SECONDS)" in done.stderr


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"CI_API_V4_URL": "http://127.0.0.1:1"}, "GitLab cannot be reached: [Errno 111]"),
        ({"CI_API_V4_URL": ""}, "is not as expected: ValueError"),
        ({"GATE_TOKEN": f"{TOKEN}\nX: y"}, "is not as expected: ValueError"),
        ({"GATE_COMMENT_SECONDS": "0"}, "GATE_COMMENT_SECONDS '0' is no number of seconds"),
        ({"CI_SERVER_TLS_CA_FILE": __file__}, f"{__file__} has no certificates"),
    ],
)
@gitlab
def test_a_bad_environment_is_one_line(job: Job, variables: dict[str, str], reason: str) -> None:
    text = line(job.comment(**variables))
    assert text.startswith("no comment: ")
    assert reason in text


@github
def test_a_long_comment_is_cut_at_a_line_and_keeps_its_link(job: Job) -> None:
    link = "[The picture and all documents](https://example.org)"
    rows = "".join(f"new  memory {number}  ░░├o┤\n" for number in range(9_000))
    text = f"{SENTENCE}\n\n```text\n{rows}```\n\n{link}\n"
    (job.folder / "results" / "comment.md").write_text(text, encoding="utf-8")
    assert line(job.comment(), 0) == "wrote a comment"
    (body,) = job.service.bodies()
    assert 60_000 < len(body) <= 65_536
    assert body.endswith(
        f"░░├o┤\n```\n\n… This comment is cut. comment.md has the rest.\n\n{link}\n"
    )
