# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Configuration files parse and name what exists, and one file states the version."""

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from heapwright import __version__

from .test_repository import FILES, ROOT, name

READERS: Mapping[str, Callable[[str], Any]] = {
    ".json": json.loads,
    ".toml": tomllib.loads,
    ".cff": yaml.safe_load,
    ".yaml": yaml.safe_load,
    ".yml": yaml.safe_load,
}
BUILDS = ("configure", "build", "test")


def read_yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][\w-]*):", makefile, re.MULTILINE))


def test_data_files_parse() -> None:
    parsed = 0
    for file in FILES:
        # MkDocs reads its own file with tags of its own.
        if file.suffix in READERS and file.name != "mkdocs.yml":
            try:
                assert READERS[file.suffix](file.read_text(encoding="utf-8")) is not None
            except (ValueError, yaml.YAMLError) as error:
                pytest.fail(f"{name(file)}: {error}")
            parsed += 1
    assert parsed > 50


def test_shell_scripts_parse() -> None:
    scripts = [file for file in FILES if file.suffix == ".sh"] + [ROOT / ".ci" / "run"]
    assert len(scripts) > 8
    for script in scripts:
        done = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("kind", BUILDS)
def test_cmake_accepts_the_presets(kind: str) -> None:
    cmake = shutil.which("cmake") or pytest.skip("cmake is not installed")
    words = [cmake, f"--list-presets={kind}"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"debug"' in done.stdout


def test_the_version_is_stated_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    (source,) = project["tool"]["dynamic-metadata"]
    assert (ROOT / source["input"]).read_text("utf-8").count(f'__version__ = "{__version__}"') == 1
    deriving = ("pyproject.toml", "CMakeLists.txt", "CITATION.cff", "CMakePresets.json")
    assert [each for each in deriving if __version__ in (ROOT / each).read_text("utf-8")] == []


def test_cmake_reads_the_version(tmp_path: Path) -> None:
    cmake = shutil.which("cmake") or pytest.skip("cmake is not installed")
    lists = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    head, _, _ = lists.partition("project(heapwright")
    head = head.replace("${CMAKE_CURRENT_SOURCE_DIR}", str(ROOT))
    script = tmp_path / "version.cmake"
    lines = [line for line in head.splitlines() if not line.startswith("set_property")]
    script.write_text("\n".join([*lines, 'message(STATUS "found ${version}")']))
    done = subprocess.run([cmake, "-P", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"-- found {__version__}\n"


def test_cmake_and_python_read_the_same_catalogue(tmp_path: Path) -> None:
    cmake = shutil.which("cmake") or pytest.skip("cmake is not installed")
    catalogue = ROOT / "catalogue" / "allocators.toml"
    script = tmp_path / "catalogue.cmake"
    script.write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        f"include({ROOT / 'cmake' / 'catalogue.cmake'})\n"
        f"heapwright_read_catalogue(entries {catalogue} ALL)\n"
        'foreach(entry IN LISTS entries)\n  message(STATUS "${entry}")\nendforeach()\n'
    )
    done = subprocess.run([cmake, "-P", script], capture_output=True, text=True, check=True)
    composed = tomllib.loads(catalogue.read_text(encoding="utf-8"))["composed"]
    fields = [(each["name"], each["header"], each["type"]) for each in composed]
    more = [",".join(each.get("entry_points", [])) for each in composed]
    expected = ["|".join((*each, last)) for each, last in zip(fields, more, strict=True)]
    assert done.stdout.splitlines() == [f"-- {each}" for each in expected]


def test_the_change_log_has_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\](?: - \d{4}-\d\d-\d\d)?$", text, re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert __version__ in headings
    assert headings.count(__version__) == 1


def test_hosted_tests_are_those_of_the_own_run() -> None:
    (job,) = read_yaml(".github/workflows/tests.yml")["jobs"].values()
    stages = set(
        re.findall(r"make ([a-z][\w-]*)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    )
    assert set(job["strategy"]["matrix"]["target"]) == stages
    assert stages <= targets()
    assert any(machine.endswith("-arm") for machine in job["strategy"]["matrix"]["machine"])


def test_hooks_run_what_is_there() -> None:
    for repository in read_yaml(".pre-commit-config.yaml")["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            program = hook["entry"].split()[0]
            assert program.startswith(".venv/bin/") or (ROOT / program).is_file()


def test_issue_forms_have_what_a_form_needs() -> None:
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) >= 3
    for path in forms:
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert form.keys() >= {"name", "description", "body"}
        ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(ids) == len(set(ids)) > 0


def test_commands_of_the_contributing_page_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"(?:^|`)make ([a-z][\w-]*)", text, re.MULTILINE)) <= targets()
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    named = {each["name"] for each in presets["configurePresets"]}
    assert set(re.findall(r"--preset (\w+)", text)) <= named
    paths = re.findall(r"(?:src|tests|catalogue|scripts|include)/[\w./-]+\w", text)
    real = [path for path in paths if "NAME" not in path]
    assert [path for path in real if not (ROOT / path).exists()] == []
