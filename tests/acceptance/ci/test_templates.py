# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The templates for continuous integration, run on the repository of the example.

The tests read the templates and run their commands. They replace what only a service has: its
variables and expressions, the clone of heapwright, and the root rights of apt-get.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.gate.document import Change, Gate
from support.blocks import blocks_of
from support.running import ran

from .services import TOKEN, served

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "ci"
PACKAGING = ROOT / "packaging"
ACTION = PACKAGING / "ci" / "github" / "action.yml"
TEMPLATE = PACKAGING / "ci" / "gitlab.yml"
WORKFLOW = EXAMPLE / ".github" / "workflows" / "memory.yml"
PIPELINE = EXAMPLE / ".gitlab-ci.yml"
GATE = PACKAGING / "ci" / "gate.sh"
GROWTH = 16 * 1_000_000
"""The bytes that change.patch adds: 16 to each of a million records."""


@dataclass(frozen=True)
class Repository:
    """A clone with a base and a change, and the environment of a job in it."""

    folder: Path
    environment: dict[str, str]

    def git(self, *words: str) -> str:
        identity = (
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "commit.gpgsign=false",
        )
        done = ran(["git", *identity, *words], cwd=self.folder, env=self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **variables}
        return ran(["bash", "-e", "-o", "pipefail", "-c", script], cwd=self.folder, env=environment)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    for program, package in {"git": "git", "g++": "g++"}.items():
        if shutil.which(program) is None:
            pytest.skip(f"no {program} (package {package})")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "apt-get").symlink_to("/bin/true")  # a job installs packages as root
    environment = {
        **os.environ,
        "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for name in [each for each in environment if re.match(r"CI_|GITHUB_|GATE_|LD_PRELOAD", each)]:
        del environment[name]
    here = Repository(tmp_path / "repository", environment)
    shutil.copytree(EXAMPLE, here.folder)
    patch = (here.folder / "change.patch").rename(tmp_path / "change.patch")
    here.git("init", "--quiet", "--initial-branch", "main")
    here.git("add", ".")
    here.git("commit", "--quiet", "--message", "records: keep a million of them")
    here.git("apply", str(patch))
    here.git("commit", "--quiet", "--all", "--message", "records: give each a name")
    return here


def filled(text: str, inputs: dict[str, str]) -> str:
    """A value of the action with its inputs."""
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


def grown(results: Path) -> tuple[Gate, str]:
    """The answer and the comment of a job whose second build needs more memory."""
    gate = Gate.model_validate_json((results / "gate.json").read_text(encoding="utf-8"))
    comparison = Comparison.from_json((results / "comparison.json").read_text(encoding="utf-8"))
    peaks = {
        name: min(run.peak_rss_bytes or 0 for run in comparison.runs if run.level == name)
        for name in ("base", "new")
    }
    assert peaks["new"] - peaks["base"] == pytest.approx(GROWTH, rel=0.1)
    assert gate.verdict is Change.LARGER
    assert [(shift.treatment, shift.response) for shift in gate.shifts] == [("new", "memory")]
    picture = ElementTree.parse(results / "picture.svg").getroot()
    assert picture.tag.endswith("}svg")
    assert "new: memory" in "".join(picture.itertext())
    comment = (results / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith(f"**{gate.sentence}**\n\n```text\nnew  memory  ")
    assert "| new | memory | larger | " in comment
    return gate, comment


@pytest.mark.programs
def test_the_workflow_on_github(repository: Repository, tmp_path: Path) -> None:
    (job,) = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"].values()
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    *before, use = job["steps"]
    assert use["uses"].partition("heapwright/")[2].partition("@")[0] == str(
        ACTION.parent.relative_to(ROOT)
    )
    assert set(use["with"]) <= set(action["inputs"])
    for step in before:
        if "run" in step:
            done = repository.run(step["run"])
            assert done.returncode == 0, done.stderr
    inputs = {name: each.get("default") for name, each in action["inputs"].items()} | use["with"]
    assert inputs["token"] == "${{ github.token }}"
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    inputs["token"] = TOKEN
    (step,) = (each for each in action["runs"]["steps"] if each.get("id") == "gate")
    files = {name: tmp_path / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    with served("github") as service:
        done = repository.run(
            step["run"],
            **{name: filled(value, inputs) for name, value in step["env"].items()},
            **{name: str(file) for name, file in files.items()},
            **service.variables(tmp_path),
            GITHUB_ACTION_PATH=str(ACTION.parent),
            GITHUB_RUN_ID="7",
            GITHUB_SERVER_URL="https://example.org",
        )
    assert done.returncode == 10, done.stderr
    gate, comment = grown(repository.folder / inputs["results"])
    assert gate.sentence in done.stdout
    assert files["GITHUB_OUTPUT"].read_text(encoding="utf-8") == "status=10\n"
    assert files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8") == comment
    assert "(https://example.org/owner/records/actions/runs/7#artifacts)" in comment
    assert [body.partition("\n\n")[2] for body in service.bodies()] == [comment]


@pytest.mark.programs
def test_the_pipeline_on_gitlab(repository: Repository, tmp_path: Path) -> None:
    source = Repository(tmp_path / "source", repository.environment)
    shutil.copytree(PACKAGING, source.folder / "packaging")
    source.git("init", "--quiet", "--initial-branch", "main")
    source.git("add", ".")
    source.git("commit", "--quiet", "--message", "packaging")
    pipeline = yaml.safe_load(PIPELINE.read_text(encoding="utf-8"))
    template = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))[pipeline["gate"]["extends"]]
    assert (ROOT / pipeline["include"][0]["file"]) == TEMPLATE
    variables = {
        **template["variables"],
        **pipeline["gate"]["variables"],
        "HEAPWRIGHT_SOURCE": f"file://{source.folder}",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.git("rev-parse", "HEAD^1"),
        "CI_JOB_URL": "https://example.org/owner/records/-/jobs/7",
        "GATE_TOKEN": TOKEN,
    }
    lines = (*pipeline["gate"]["before_script"], *template["script"])
    with served("gitlab") as service:
        done = repository.run("\n".join(lines), **variables, **service.variables(tmp_path))
    assert done.returncode == 10, done.stderr
    (results,) = template["artifacts"]["paths"]
    _, comment = grown(repository.folder / results)
    assert (
        "(https://example.org/owner/records/-/jobs/7/artifacts/browse/heapwright-gate/)" in comment
    )
    (body,) = service.bodies()
    assert body.endswith(comment.partition("\n\n")[2])
    (picture,) = service.uploads
    assert (repository.folder / results / "picture.svg").read_bytes() in picture


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"GATE_COMMAND": "./records"}, "has no {build}"),
        ({"GATE_COMMAND": "{build}/records"}, "GATE_BASE '' is not a folder"),
        ({"GATE_COMMAND": "{build}/x", "GATE_BASE": ".", "GATE_NEW": "x"}, "GATE_NEW 'x' is not a"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, str], words: str, tmp_path: Path) -> None:
    (tmp_path / "heapwright").symlink_to("/bin/true")
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = ran([GATE], cwd=tmp_path, env={**os.environ, **path, **settings})
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "heapwright-gate").exists()


def test_an_installation_of_this_version_is_kept(tmp_path: Path) -> None:
    install = PACKAGING / "install.sh"
    key = ran([install, "--key"], cwd=tmp_path).stdout
    assert re.fullmatch(r"[0-9a-f]{16}\n", key)
    (tmp_path / "heapwright-key").write_text(key, encoding="utf-8")
    done = ran([install, tmp_path], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (
        0,
        f"install.sh: {tmp_path} has this version already\n",
    )


def test_the_page_shows_the_files_of_the_example() -> None:
    page = ROOT / "docs" / "how-to" / "continuous-integration.md"
    github, gitlab = (
        yaml.safe_load(block.code) for block in blocks_of(page) if block.language == "yaml"
    )
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    pipeline = yaml.safe_load(PIPELINE.read_text(encoding="utf-8"))
    del workflow["name"]
    del workflow["jobs"]["gate"]["steps"][-1]["with"]["blocks"]
    del pipeline["gate"]["variables"]["GATE_BLOCKS"]
    assert github == workflow
    assert gitlab == pipeline


SCHEMAS = {
    "github-actions": [ACTION],
    "github-workflows": [WORKFLOW, *sorted((ROOT / ".github" / "workflows").glob("*.yml"))],
    "gitlab-ci": [TEMPLATE, PIPELINE],
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_templates_follow_the_schemas_of_the_services(schema: str) -> None:
    beside = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    checker = shutil.which("check-jsonschema", path=beside)
    if checker is None:
        pytest.skip("no check-jsonschema of PyPI (the extra dev installs it)")
    transform = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
    done = ran([checker, "--builtin-schema", f"vendor.{schema}", *transform, *SCHEMAS[schema]])
    assert done.returncode == 0, done.stdout + done.stderr
